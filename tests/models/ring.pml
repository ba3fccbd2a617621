/* SPDX-License-Identifier: BSD-2-Clause */
/* ring.pml: the ring of one thread: reserve, fill, commit by the owner and by its signal handler, peek and release by the consumer.
 *
 * States of ring.h and docs/data-path.md: [head, tail) holds whole records, tail - head <= size; a record that would cross the end has a pad
 * before it, published by the same commit; a commit may be shorter than its reserve, and "the next reserve discards a reserve without
 * commit"; a record of a quarter of the ring fits into an empty one, even with a pad; `busy` keeps the owner's handler out; `look` is at most
 * head_cache + the size (hpx_ring_room()).
 * Abstracted: 8 units; positions modulo 16 for 2^64; a body is the number of its record, modulo 3; bytes are cleared when they are read. The
 * ring begins at two places; PUSHES pushes. hpx_reserve_or_drop()'s count and wake are left out, its look_at_fill() is not.
 * Not known to SPIN: that tail (release, acquire) covers the bytes of records, and head their reuse. A plant swaps the two accesses.
 * tests/stress/stress_ring.c under TSan covers the orders. */
/* mirrors: pipeline/ring.h:hpx_ring_room 1a12ea3f2739 */
/* mirrors: pipeline/ring.h:hpx_ring_publish a1db917c69bd */
/* mirrors: pipeline/ring.h:hpx_ring_peek b30e4cac215b */
/* mirrors: pipeline/ring.h:hpx_ring_release b11e350c9d66 */
/* mirrors: pipeline/ring.h:hpx_ring_span 66ef73e4029a */
/* mirrors: pipeline/ring.h:hpx_ring_reserve 1a7ef3736a6c */
/* mirrors: pipeline/ring.h:hpx_ring_commit_run 49c75428d7cd */
/* mirrors: pipeline/ring.h:hpx_ring_commit 224dc1812d01 */
/* mirrors: pipeline/ring.c:hpx_ring_reserve_slow d25ebc86eb29 */
/* mirrors: pipeline/aggregator.c:look_at_fill 496ff7326a62 */
/* mirrors: pipeline/aggregator.c:reserve 0667f68f3cdf */
/* mirrors: pipeline/aggregator.c:drain b56eb1b5d32f */

#define SIZE    8
#define MODULO  16
#define NONE    255
#define PAD     100 /* + its units; a record's head: its units, then its number in every unit */
#define LESS(a, b) ((((a) + MODULO - (b)) % MODULO) > MODULO / 2) /* (int64_t)(a - b) < 0 */
#ifdef LONG
#define PUSHES   6
#define HANDLERS 1
#else
#define PUSHES   4
#define HANDLERS 1
#endif

byte head, tail;
byte head_cache, look;
byte units[SIZE], number[SIZE];
byte next = 1; /* number of the next record: none is lost silently, and none is read twice */
bool busy, handling;

#define LOCALS byte n, got, left, pad, end_

/* The producer's side. A step is what others can tell apart: a reserve with its pad, the bytes, the tail.
 * got: the place; NONE: no room. */
inline slow(n, got)
{
#ifndef NO_REREAD
    head_cache = head;
#endif
    left = SIZE - ((tail + MODULO - head_cache) % MODULO);
#ifdef SPLIT
    pad = 0;
#else
    pad = ((tail % SIZE) + n > SIZE -> SIZE - (tail % SIZE) : 0);
#endif
    got = NONE;
    if
#ifdef ONE_TOO_MANY
    :: pad + n > left + 1
#else
    :: pad + n > left
#endif
    :: else -> got = (tail + pad) % SIZE
    fi;
    assert(got != NONE || head != tail); /* an empty ring has room */
    if
    :: got != NONE && pad > 0 -> units[tail % SIZE] = PAD + pad
    :: else
    fi
}

inline look_at_fill()
{
    head_cache = head;
    if
    :: ((end_ + MODULO - head_cache) % MODULO) > SIZE / 2 ->
        look = (end_ + SIZE / 4) % MODULO;
#ifndef LOOK_BEYOND
        if
        :: LESS((head_cache + SIZE) % MODULO, look) -> look = (head_cache + SIZE) % MODULO
        :: else
        fi
#endif
    :: else -> look = (head_cache + SIZE / 2) % MODULO
    fi
}

inline reserve(n, got)
{
    d_step {
        if
        :: ((tail + n + MODULO - head_cache) % MODULO) <= SIZE && (tail % SIZE) + n <= SIZE -> got = tail % SIZE
        :: else -> slow(n, got)
        fi;
        end_ = (tail + n) % MODULO;
        if
        :: got != NONE && LESS(look, end_) -> look_at_fill()
        :: else
        fi;
        left = 0;
        pad = 0;
        end_ = 0
    }
}

inline room(n, got)
{
    d_step {
        if
        :: (n == 1 || (tail % SIZE) + n <= SIZE) && !LESS(look, (tail + n) % MODULO) -> got = tail % SIZE
        :: else -> got = NONE
        fi
    }
}

inline fill(n, got)
{
    d_step {
        units[got] = n;
        number[got] = next;
        units[(got + n - 1) % SIZE] = n;
        number[(got + n - 1) % SIZE] = next;
        next = next % 3 + 1
    }
}

inline publish(n, got)
{
    d_step {
        if
#ifndef PAD_FORGOTTEN
        :: got == 0 -> tail = (((tail + SIZE - 1) / SIZE) * SIZE + n) % MODULO
#endif
        :: else -> tail = (tail + n) % MODULO
        fi
    }
}

inline push()
{
    if
    :: n = 1
    :: n = 2
    fi;
    if
    :: true -> reserve(n, got)
    :: true -> room(n, got)
    fi;
    if
    :: got == NONE /* dropped, and counted */
    :: got != NONE /* discarded by the next reserve */
    :: got != NONE ->
        if
        :: n > 1 -> n--
        :: true
        fi;
#ifdef TAIL_FIRST
        publish(n, got);
        fill(n, got)
#else
        fill(n, got);
        publish(n, got)
#endif
    fi;
    atomic { n = 0; got = 0 }
}

active proctype owner() provided (!handling)
{
    LOCALS;
    byte i;
    atomic {
        if
        :: head = 3
        :: head = 6
        fi;
        tail = head;
        head_cache = head;
        look = head + SIZE / 2
    }
end:
    do
    :: i < PUSHES ->
        i++;
#ifndef NO_BUSY
        busy = true;
#endif
        push();
        busy = false
    od
}

/* On the owner's thread: it runs to its end, and the owner stands still. */
active proctype handler()
{
    LOCALS;
    byte i;
end:
    do
    :: look > 0 && i < HANDLERS ->
        atomic { handling = true; i++ };
        if
        :: busy
#ifdef IGNORES_BUSY
        :: busy -> push()
#endif
        :: !busy -> push()
        fi;
        handling = false
    od
}

active proctype consumer()
{
    byte to, at, n, expected = 1;
end:
    do
    :: tail != head ->
        to = tail;
        at = head;
        assert((to + MODULO - at) % MODULO <= SIZE);
        do
        :: at == to -> break
        :: at != to ->
#ifdef HEAD_FIRST
            head = to;
#endif
            d_step {
                n = units[at % SIZE];
                if
                :: n >= PAD ->
                    n = n - PAD;
                    assert((at % SIZE) + n == SIZE)
                :: n < PAD ->
                    assert(n > 0 && (at % SIZE) + n <= SIZE && number[at % SIZE] == expected);
                    assert(units[(at + n - 1) % SIZE] == n && number[(at + n - 1) % SIZE] == expected);
                    expected = expected % 3 + 1
                fi;
                units[at % SIZE] = 0;
                number[at % SIZE] = 0;
                units[(at + n - 1) % SIZE] = 0;
                number[(at + n - 1) % SIZE] = 0
            }
            at = (at + n) % MODULO;
            assert(!LESS(to, at));
            if
            :: at % SIZE == 0 -> head = at /* hpx_ring_span() ends at the wrap */
            :: else
            fi;
            n = 0
        od;
        atomic { head = to; to = 0; at = 0 }
    od
}
