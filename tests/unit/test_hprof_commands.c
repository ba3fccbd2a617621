/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_commands.c: each command of the socket, whole and in pieces, too short, too long, unknown, broken. */
#include "cmocka_all.h"
#include "command_check.h"
#include <math.h>
#include <stdlib.h>

static struct hpx_commands parser;
static struct hpx_command command;

static int setup(void **state)
{
    (void)state;
    hpx_commands_init(&parser, 8);
    memset(&command, 0xEE, sizeof(command));
    return 0;
}

/* All bytes at once; true: one command, and nothing behind it. */
static bool feed(const void *bytes, size_t n)
{
    struct hpx_command none;
    bool found, more;
    size_t taken = hpx_commands_feed(&parser, bytes, n, &command, &found);
    taken += hpx_commands_feed(&parser, (const uint8_t *)bytes + taken, n - taken, &none, &more);
    assert_int_equal(taken, n);
    assert_false(more);
    return found;
}

#define FEED(s) feed(s, sizeof(s) - 1)

TEST(commands_without_body, setup)
{
    static const struct {
        const char *bytes;
        uint8_t tag;
        const char *name;
    } all[] = {{"\1\0\0\0\7\0\0\0\0", HPX_COMMAND_FORCE_GC, "FORCE GC"},
               {"\2\0\0\0\7\0\0\0\0", HPX_COMMAND_DUMP_HEAP, "DUMP HEAP"},
               {"\4\0\0\0\7\0\0\0\0", HPX_COMMAND_HEAP_SUMMARY, "HEAP SUMMARY"},
               {"\5\0\0\0\7\0\0\0\0", HPX_COMMAND_EXIT, "EXIT THE VM"},
               {"\6\0\0\0\7\0\0\0\0", HPX_COMMAND_DUMP_TRACES, "DUMP TRACES"}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        assert_true(feed(all[i].bytes, 9));
        assert_int_equal(command.tag, all[i].tag);
        assert_int_equal(command.fault, HPX_COMMAND_GOOD);
        assert_int_equal(command.serial, 7);
        assert_int_equal(command.length, 0);
        assert_string_equal(hpx_command_name(command.tag), all[i].name);
    }
}

TEST(commands_with_a_cutoff, setup)
{
    assert_true(FEED("\3\x12\x34\x56\x78\0\0\0\6\0\3\x3d\x4c\xcc\xcd"));
    assert_int_equal(command.tag, HPX_COMMAND_ALLOC_SITES);
    assert_int_equal(command.serial, 0x12345678);
    assert_int_equal(command.flags, 3);
    assert_true(command.cutoff == 0.05f);
    assert_true(FEED("\7\0\0\0\1\0\0\0\6\1\0\x3f\0\0\0"));
    assert_int_equal(command.tag, HPX_COMMAND_CPU_SAMPLES);
    assert_int_equal(command.flags, 256);
    assert_true(command.cutoff == 0.5f);
    assert_true(FEED("\7\0\0\0\1\0\0\0\6\0\0\x7f\xc0\0\0"));
    assert_true(isnan(command.cutoff));
}

TEST(controls, setup)
{
    static const struct {
        const char *bytes;
        uint8_t n;
        enum hpx_control what;
        uint64_t thread;
        uint16_t depth;
        bool cut;
    } all[] = {{"\0\1", 2, HPX_CONTROL_ALLOC_ON, 0, 0, false},
               {"\0\2", 2, HPX_CONTROL_ALLOC_OFF, 0, 0, false},
               {"\0\3\0\0\0\0", 6, HPX_CONTROL_CPU_ON, 0, 0, false},
               {"\0\3\x50\0\1\x81", 6, HPX_CONTROL_CPU_ON, 0x50000181, 0, false},
               {"\0\4\0\0\0\0", 6, HPX_CONTROL_CPU_OFF, 0, 0, false},
               {"\0\4\0\0\1\2", 6, HPX_CONTROL_CPU_OFF, 0x102, 0, false},
               {"\0\4\1\2\3\4\5\6\7\x08", 10, HPX_CONTROL_CPU_OFF, 0x0102030405060708, 0, false},
               {"\0\5", 2, HPX_CONTROL_CLEAR_CPU, 0, 0, false},
               {"\0\6", 2, HPX_CONTROL_CLEAR_SITES, 0, 0, false},
               {"\0\6\0\3", 4, HPX_CONTROL_DEPTH, 0, 3, false},
               {"\0\6\x08\0", 4, HPX_CONTROL_DEPTH, 0, 2048, false},
               {"\0\6\x08\1", 4, HPX_CONTROL_DEPTH, 0, 2048, true},
               {"\0\7\0\0", 4, HPX_CONTROL_DEPTH, 0, 0, false},
               {"\0\7\xff\xff", 4, HPX_CONTROL_DEPTH, 0, 2048, true}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        uint8_t bytes[32] = "\x08\0\0\0\1\0\0\0";
        bytes[8] = all[i].n;
        memcpy(bytes + 9, all[i].bytes, all[i].n);
        assert_true(feed(bytes, 9u + all[i].n));
        assert_int_equal(command.fault, HPX_COMMAND_GOOD);
        assert_int_equal(command.control, all[i].what);
        assert_int_equal(command.thread, all[i].thread);
        assert_int_equal(command.depth, all[i].depth);
        assert_int_equal(command.depth_cut, all[i].cut);
    }
}

TEST(thread_ids_have_the_size_that_the_header_says, setup)
{
    hpx_commands_init(&parser, 4);
    assert_true(FEED("\x08\0\0\0\1\0\0\0\x0a\0\4\1\2\3\4\5\6\7\x08"));
    assert_int_equal(command.thread, 0x01020304);
    assert_true(FEED("\x08\0\0\0\1\0\0\0\x0a\0\3\1\2\3\4\5\6\7\x08")); /* the size outlives a command */
    assert_int_equal(command.thread, 0x01020304);
    hpx_commands_init(&parser, 8);
    assert_true(FEED("\x08\0\0\0\1\0\0\0\x09\0\4\1\2\3\4\5\6\7"));
    assert_int_equal(command.thread, 0x01020304);
}

TEST(faults_are_told_and_skipped_whole, setup)
{
    static const struct {
        const char *bytes;
        size_t n;
        enum hpx_command_fault fault;
    } all[] = {{"\x55\0\0\0\7\0\0\0\0", 9, HPX_COMMAND_UNKNOWN_TAG},
               {"\x55\0\0\0\7\0\0\0\3\1\2\3", 12, HPX_COMMAND_UNKNOWN_TAG},
               {"\0\0\0\0\7\0\0\0\1\1", 10, HPX_COMMAND_UNKNOWN_TAG},
               {"\x09\0\0\0\7\0\0\0\0", 9, HPX_COMMAND_UNKNOWN_TAG},
               {"\xfe\0\0\0\7\0\0\0\0", 9, HPX_COMMAND_UNKNOWN_TAG},
               {"\3\0\0\0\7\0\0\0\5\0\0\0\0\0", 14, HPX_COMMAND_SHORT},
               {"\7\0\0\0\7\0\0\0\0", 9, HPX_COMMAND_SHORT},
               {"\x08\0\0\0\7\0\0\0\1\0", 10, HPX_COMMAND_SHORT},
               {"\x08\0\0\0\7\0\0\0\2\0\0", 11, HPX_COMMAND_UNKNOWN_SUB},
               {"\x08\0\0\0\7\0\0\0\2\0\x08", 11, HPX_COMMAND_UNKNOWN_SUB},
               {"\x08\0\0\0\7\0\0\0\2\1\5", 11, HPX_COMMAND_UNKNOWN_SUB},
               {"\x08\0\0\0\7\0\0\0\2\0\3", 11, HPX_COMMAND_SHORT},
               {"\x08\0\0\0\7\0\0\0\5\0\4\0\0\0", 14, HPX_COMMAND_SHORT},
               {"\x08\0\0\0\7\0\0\0\3\0\6\1", 12, HPX_COMMAND_SHORT},
               {"\x08\0\0\0\7\0\0\0\2\0\7", 11, HPX_COMMAND_SHORT}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        assert_true(feed(all[i].bytes, all[i].n));
        assert_int_equal(command.fault, all[i].fault);
        assert_int_equal(command.control, HPX_CONTROL_NONE);
        assert_true(strlen(hpx_command_fault_text(command.fault)) > 0);
        assert_true(FEED("\1\0\0\0\x08\0\0\0\0")); /* the next one is in its place */
        assert_int_equal(command.serial, 8);
    }
    assert_string_equal(hpx_command_name(0x55), "unknown command");
    assert_string_equal(hpx_command_name(0), "unknown command");
    assert_string_equal(hpx_command_name(0xFF), "EOF");
}

TEST(surplus_bytes_are_no_commands, setup)
{
    assert_true(FEED("\6\0\0\0\7\0\0\0\x09\1\0\0\0\7\0\0\0\0"));
    assert_int_equal(command.tag, HPX_COMMAND_DUMP_TRACES);
    assert_true(FEED("\7\0\0\0\7\0\0\0\7\0\0\x3f\0\0\0\xff"));
    assert_int_equal(command.tag, HPX_COMMAND_CPU_SAMPLES);
    assert_true(FEED("\x08\0\0\0\7\0\0\0\5\0\6\0\3\xff"));
    assert_int_equal(command.depth, 3);
    assert_int_equal(parser.state, HPX_COMMANDS_OPEN);
}

TEST(a_command_comes_with_its_last_byte, setup)
{
    static const uint8_t bytes[] = "\7\0\0\0\1\0\0\0\x09\0\0\x3f\0\0\0\1\2\3";
    size_t n = sizeof(bytes) - 1;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(feed(bytes + i, 1), i + 1 == n);
    }
    assert_true(command.cutoff == 0.5f);
}

TEST(eof_has_no_header_and_ends_the_stream, setup)
{
    assert_true(FEED("\xff\1\0\0\0\7\0\0\0\0"));
    assert_int_equal(command.tag, HPX_COMMAND_EOF);
    assert_int_equal(command.fault, HPX_COMMAND_GOOD);
    assert_int_equal(parser.state, HPX_COMMANDS_ENDED);
    assert_false(FEED("\1\0\0\0\7\0\0\0\0"));
}

TEST(a_length_above_65536_breaks_the_stream, setup)
{
    static const uint8_t most[9 + 65536] = "\x55\0\0\0\7\0\1\0";
    assert_true(feed(most, sizeof(most)));
    assert_int_equal(command.length, 65536);
    assert_int_equal(parser.state, HPX_COMMANDS_OPEN);
    assert_false(FEED("\1\0\0\0\7\0\1\0\1\1\0\0\0\7\0\0\0\0"));
    assert_int_equal(parser.state, HPX_COMMANDS_BROKEN);
    assert_int_equal(command.length, 65537);
    assert_int_equal(command.serial, 7);
    assert_false(FEED("\1\0\0\0\7\0\0\0\0"));
    setup(NULL);
    assert_false(FEED("\xfe\0\0\0\7\xff\xff\xff\xff"));
    assert_int_equal(parser.state, HPX_COMMANDS_BROKEN);
}

TEST(which_commands_dump, setup)
{
    for (unsigned tag = 0; tag < 256; tag++) {
        bool dumps = tag == 2 || tag == 3 || tag == 4 || tag == 6 || tag == 7;
        assert_int_equal(hpx_command_dumps((uint8_t)tag), dumps);
    }
}

/* Streams of the right shape, which random bytes seldom have. */
TEST(random_streams_in_random_pieces, setup)
{
    srand(1);
    for (int round = 0; round < 2000; round++) {
        uint8_t bytes[1024], id_size = rand() & 1 ? 4 : 8;
        size_t n = 0, at = 0;
        while (n < 900) {
            uint8_t tag = (uint8_t)(rand() % 11), length = (uint8_t)(rand() % 14);
            bytes[n] = tag;
            bytes[n + 5] = bytes[n + 6] = bytes[n + 7] = 0;
            bytes[n + 8] = length;
            for (int i = 0; i < length; i++) {
                bytes[n + 9 + (size_t)i] = (uint8_t)(rand() % (i < 2 ? 9 : 256) * (i != 0));
            }
            for (size_t i = 1; i < 5; i++) {
                bytes[n + i] = (uint8_t)rand();
            }
            n += 9u + length;
        }
        hpx_commands_init(&parser, id_size);
        for (size_t fed = 0, piece = 0; fed < n; fed += piece) {
            piece = 1 + (size_t)rand() % 40;
            piece = piece < n - fed ? piece : n - fed;
            bool found = true;
            for (size_t done = 0; found || done < piece;) {
                done += hpx_commands_feed(&parser, bytes + fed + done, piece - done, &command, &found);
                size_t next = 0;
                assert_true(!found || command_agrees(bytes + at, n - at, &command, id_size, &next));
                at += next;
            }
        }
        assert_int_equal(at, n);
    }
}

TESTS(NULL, NULL)
