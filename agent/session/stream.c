/* SPDX-License-Identifier: BSD-2-Clause */
/* stream.c: the choice of the format, once for each call. */
#include "stream.h"
#include "clock.h"

void hpx_stream_init(struct hpx_stream *s)
{
    if (hpx_session.opt->binary) {
        hpx_binary_init(&s->binary, &s->out, hpx_session.opt->idsize);
    } else {
        hpx_ascii_init(&s->ascii, &s->out);
    }
    s->bound = (struct hpx_bound){.most = hpx_session.opt->net != NULL ? 0 : hpx_session.in_effect.maxfile};
    s->ascii.bound = s->binary.bound = &s->bound;
    s->unwritten = s->lacks = 0;
}

static void header(struct hpx_stream *s, struct timespec wall, uint64_t mono_ns)
{
    if (hpx_session.opt->binary) {
        uint32_t depth = atomic_load_explicit(&hpx_session.depth, memory_order_relaxed);
        uint32_t settings = 0;
        for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
            settings |= hpx_session.modes[i]->section->settings;
        }
        hpx_binary_header(&s->binary, wall, mono_ns, settings, depth);
    } else if (!hpx_session_bare()) {
        hpx_ascii_header(&s->ascii, wall.tv_sec);
    }
}

void hpx_stream_restart(struct hpx_stream *s, struct timespec wall, uint64_t mono_ns)
{
    if (hpx_session.opt->binary) {
        hpx_binary_restart(&s->binary);
    } else {
        hpx_ascii_fini(&s->ascii);
    }
    header(s, wall, mono_ns);
}

void hpx_stream_begin(struct hpx_stream *s, struct timespec wall, uint64_t mono_ns)
{
    hpx_stream_init(s);
    header(s, wall, mono_ns);
    hpx_out_section(&s->out, false); /* a reader of NAME.part finds a whole header */
}

void hpx_stream_thread(struct hpx_stream *s, uint64_t at, const struct hpx_thread_rec *rec, enum hpx_thread_event what)
{
    bool binary = hpx_session.opt->binary, renamed = rec->newest.bytes != NULL;
    if (binary) {
        hpx_binary_at(&s->binary, at);
    } else if (hpx_session_bare()) {
        return;
    }
    if (what == HPX_THREAD_STARTS && binary) {
        hpx_binary_thread_start(&s->binary, rec);
    } else if (what == HPX_THREAD_STARTS) {
        hpx_ascii_thread_start(&s->ascii, rec);
    }
    if (renamed && binary) {
        hpx_binary_thread_name(&s->binary, rec);
    } else if (renamed) {
        hpx_ascii_thread_name(&s->ascii, rec);
    }
    if (what == HPX_THREAD_ENDS && binary) {
        hpx_binary_thread_end(&s->binary, rec);
    } else if (what == HPX_THREAD_ENDS) {
        hpx_ascii_thread_end(&s->ascii, rec);
    }
}

void hpx_stream_class(struct hpx_stream *s, uint64_t at, const struct hpx_class_rec *rec, bool unloaded)
{
    hpx_binary_at(&s->binary, at);
    (unloaded ? hpx_binary_class_unload : hpx_binary_class_load)(&s->binary, rec);
}

/* Writes the section; false: nothing of it, or it is incomplete. */
static bool text_section(struct hpx_stream *s, const struct hpx_section *section, void *rows, const struct hpx_dump_request *request)
{
    const struct hpx_out *o = &s->out;
    uint64_t before = o->written + o->used + o->lost;
    section->text(&s->ascii, rows, request->cutoff, request->answer);
    return o->written + o->used + o->lost > before && (section->missing == NULL || !section->missing(rows));
}

static bool is_written(const struct hpx_parts *parts, uint32_t mode)
{
    return parts->of[mode] != NULL && hpx_section_is_shown(hpx_session.modes[mode]->section);
}

/* What the writer has left out of a section. */
static void take_unwritten(struct hpx_stream *s, bool lasting)
{
    uint64_t *n = hpx_session.opt->binary ? &s->binary.unwritten : &s->ascii.unwritten;
    *(lasting ? &s->lacks : &s->unwritten) += *n;
    *n = 0;
}

static uint32_t count_sections(const struct hpx_parts *parts)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        n += is_written(parts, i);
    }
    return n;
}

bool hpx_stream_dump(struct hpx_stream *s, const struct hpx_parts *parts, const struct hpx_dump_request *request, bool last)
{
    bool binary = hpx_session.opt->binary, shown = false;
    s->bound.summed = 0;
    s->bound.below = 0;
    s->lacks = 0;
    if (request->binary_only && !binary) {
        return false;
    }
    if (binary) {
        hpx_binary_at(&s->binary, hpx_clock_mono());
    }
    for (uint32_t i = 0, left = count_sections(parts); i < hpx_session.nmodes; i++) {
        const struct hpx_section *section = hpx_session.modes[i]->section;
        if (!is_written(parts, i)) {
            continue;
        }
        hpx_bound_allow(&s->bound, &s->out, left--, last);
        if (binary) {
            section->binary(&s->binary, parts->of[i], request->cutoff);
        } else {
            shown = text_section(s, section, parts->of[i], request) || shown;
        }
        hpx_bound_leave(&s->bound, &s->out);
        take_unwritten(s, request->keep || section->lasting);
    }
    if (!binary) {
        hpx_ascii_dump_end(&s->ascii);
    }
    return binary || (shown && !hpx_session_bare()); /* a report belongs to a section */
}

void hpx_stream_report(struct hpx_stream *s, const char *report)
{
    if (hpx_session.opt->binary) {
        hpx_binary_dump_end(&s->binary, report);
    } else {
        hpx_ascii_report(&s->ascii, report);
    }
}

void hpx_stream_traces(struct hpx_stream *s, struct hpx_snapshot *traces)
{
    if (hpx_session.opt->binary) {
        hpx_binary_at(&s->binary, hpx_clock_mono());
        hpx_binary_traces(&s->binary, traces);
    } else {
        hpx_ascii_traces(&s->ascii, traces);
    }
}

void hpx_stream_end(struct hpx_stream *s)
{
    if (hpx_session.opt->binary) {
        hpx_binary_release(&s->binary);
    }
    hpx_out_close(&s->out);
    if (hpx_session.opt->binary) {
        hpx_binary_fini(&s->binary);
    } else {
        hpx_ascii_fini(&s->ascii);
    }
}
