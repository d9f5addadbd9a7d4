// Which way of copying packets into a ring costs the host least, while another core takes them out?
//
// cc -O3 -pthread benches/copies.c -o /tmp/copies && /tmp/copies [warm]
//
// Prints nanoseconds a packet, 10th percentile, median and 90th percentile; with `warm` nobody takes the packets out.
// Needs AVX-512. The second thread stands for the packet processor of an emulated device: it reads each packet whole and
// stores an invalid header in its place.

#include <immintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RING = 16384, RUN = 64, MOST_SAMPLES = 300 };

typedef struct {
    _Alignas(64) uint32_t words[16];
} Packet;

static const uint32_t INVALID = 1, DISPATCH = 2 | 1 << 16;
static Packet ring[RING], image[RING];
static _Atomic uint64_t written, taken;
static _Atomic int stop;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static Packet *slot(uint64_t index) { return &ring[index % RING]; }
static _Atomic uint32_t *header(uint64_t index) { return (_Atomic uint32_t *)slot(index)->words; }

static void *take(void *unused) {
    (void)unused;
    uint64_t index = 0, sum = 0;
    while (!stop) {
        if (index >= written || (atomic_load(header(index)) & 0xff) == INVALID) {
            for (int i = 0; i < 32; i++) _mm_pause();
            continue;
        }
        for (int i = 0; i < 8; i++) sum += ((volatile uint64_t *)slot(index))[i];
        atomic_store_explicit(header(index), INVALID, memory_order_relaxed);
        taken = ++index;
    }
    return (void *)sum;
}

// Bodies of packets `from` to `to` of the image, whose first slot is `first`; their headers stay invalid.
static void by_words(uint64_t first, int from, int to) {
    for (int i = from; i < to; i++) {
        atomic_store_explicit(header(first + i), INVALID, memory_order_relaxed);
        memcpy(slot(first + i)->words + 1, image[i].words + 1, 60);
    }
}

__attribute__((target("avx512f"))) static __m512i invalid(int i) {
    return _mm512_mask_mov_epi32(_mm512_load_si512(&image[i]), 1, _mm512_set1_epi32(INVALID));
}

__attribute__((target("avx512f"))) static void by_lines(uint64_t first, int from, int to) {
    for (int i = from; i < to; i++) _mm512_store_si512(slot(first + i), invalid(i));
}

__attribute__((target("avx512f"))) static void past_the_cache(uint64_t first, int from, int to) {
    for (int i = from; i < to; i++) _mm512_stream_si512((__m512i *)slot(first + i), invalid(i));
    _mm_sfence();
}

// The same with their headers.
__attribute__((target("avx512f"))) static void whole(uint64_t first, int from, int to) {
    for (int i = from; i < to; i++) _mm512_store_si512(slot(first + i), _mm512_load_si512(&image[i]));
}

__attribute__((target("avx512f"))) static void whole_past_the_cache(uint64_t first, int from, int to) {
    for (int i = from; i < to; i++) _mm512_stream_si512((__m512i *)slot(first + i), _mm512_load_si512(&image[i]));
    _mm_sfence();
}

static const struct {
    const char *name;
    void (*copy)(uint64_t, int, int);
    int ahead, whole;
} WAYS[] = {
    {"bodies by 16 bytes", by_words, 0, 0},
    {"the same, slots asked for ahead", by_words, 1, 0},
    {"bodies by 64 bytes", by_lines, 0, 0},
    {"bodies past the cache", past_the_cache, 0, 0},
    {"whole packets", whole, 0, 1},
    {"whole packets past the cache", whole_past_the_cache, 0, 1},
};
enum { COUNT = sizeof WAYS / sizeof *WAYS };

static void ask(uint64_t first, int from, int to) {
    for (int i = from < 0 ? 0 : from; i < to; i++) __builtin_prefetch(slot(first + i), 1);
}

static void publish(int way, uint64_t first, int count) {
    if (WAYS[way].whole) {
        by_words(first, 0, 1);
        WAYS[way].copy(first, 1, count);
        atomic_store_explicit(header(first), image[0].words[0], memory_order_release);
        return;
    }
    if (WAYS[way].ahead) ask(first, count - RUN, count);
    for (int to = count; to > 0; to -= RUN) {
        int from = to < RUN ? 0 : to - RUN;
        if (WAYS[way].ahead) ask(first, from - RUN, from);
        WAYS[way].copy(first, from, to);
        for (int i = to - 1; i >= from; i--)
            atomic_store_explicit(header(first + i), image[i].words[0], memory_order_release);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    int warm = argc > 1 && !strcmp(argv[1], "warm");
    static double samples[COUNT][MOST_SAMPLES];
    static const int SIZES[] = {1, 145, 1024, 8192};
    for (int i = 0; i < RING; i++) {
        for (int j = 0; j < 16; j++) image[i].words[j] = 16 * i + j;
        image[i].words[0] = DISPATCH;
        ring[i].words[0] = INVALID;
    }
    pthread_t thread;
    if (!warm && pthread_create(&thread, NULL, take, NULL)) return 1;
    uint64_t index = 0;
    for (int size = 0; size < 4; size++) {
        int count = SIZES[size], times = count > 4000 ? 60 : MOST_SAMPLES;
        for (int n = 0; n < times; n++)
            for (int way = 0; way < COUNT; way++) {
                double start = now();
                publish(way, index, count);
                atomic_store_explicit(&written, index + count, memory_order_release);
                samples[way][n] = now() - start;
                for (int i = 0; warm && i < count; i++) *header(index + i) = INVALID;
                index += count;
                while (!warm && taken < index) _mm_pause();
            }
        printf("%d packets\n", count);
        for (int way = 0; way < COUNT; way++) {
            double *of_way = samples[way];
            qsort(of_way, times, sizeof *of_way, ascending);
            printf("  %-34s %6.2f %6.2f %6.2f\n", WAYS[way].name, of_way[times / 10] / count,
                   of_way[times / 2] / count, of_way[times * 9 / 10] / count);
        }
    }
    stop = 1;
    return 0;
}
