/* Semaphores for hipImportExternalSemaphore, for programs in which no other API makes them.
 *
 * HIP imports semaphores and creates none. Where the other side is no graphics API but a program of yours, with or
 * without a GPU, these functions make one, and signal and wait for it on the host. The semaphore is a memfd of one page:
 *
 *   offset  type    what
 *        0  u64     "AQLIPSEM"
 *        8  u32     version: 1
 *       12  u32     1: binary semaphore, 2: timeline
 *       16  u64     binary: 1 while signalled; timeline: the number reached, which never falls
 *       24  u32     grows with each change of the value; a futex that is shared between processes
 *       28  u32     0
 *       32  u64     0
 *
 * It must be sealed against shrinking (F_SEAL_SHRINK). Its descriptor goes to other processes as descriptors do: by fork,
 * or in an SCM_RIGHTS message. hipImportExternalSemaphore takes the descriptor over: pass a duplicate to keep it. A
 * binary semaphore is imported as hipExternalSemaphoreHandleTypeOpaqueFd, a timeline as
 * hipExternalSemaphoreHandleTypeTimelineSemaphoreFd.
 *
 * Linux, C11 or C++11 with GNU extensions; link nothing. Functions return 0, or -1 with errno set. */
#ifndef AQLIPSE_SEMAPHORE_H
#define AQLIPSE_SEMAPHORE_H

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before the first header"
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AQLIPSE_SEMAPHORE_BINARY = 1, AQLIPSE_SEMAPHORE_TIMELINE = 2, AQLIPSE_SEMAPHORE_BYTES = 4096 };

typedef struct aqlipseSemaphorePage {
    uint64_t magic;
    uint32_t version;
    uint32_t kind;
    uint64_t value;
    uint32_t sequence;
    uint32_t reserved;
    uint64_t reserved2;
} aqlipseSemaphorePage;

/* Maps the semaphore behind a descriptor; munmap(page, AQLIPSE_SEMAPHORE_BYTES) ends that. */
static inline aqlipseSemaphorePage *aqlipseMapSemaphore(int descriptor) {
    void *page = mmap(0, AQLIPSE_SEMAPHORE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return page == MAP_FAILED ? 0 : (aqlipseSemaphorePage *)page;
}

/* Makes a semaphore; a binary one is signalled if `initial` is not 0. */
static inline int aqlipseCreateSemaphore(int *descriptor, uint32_t kind, uint64_t initial) {
    if (!descriptor || (kind != AQLIPSE_SEMAPHORE_BINARY && kind != AQLIPSE_SEMAPHORE_TIMELINE)) {
        errno = EINVAL;
        return -1;
    }
    int made = memfd_create("aqlipse-semaphore", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0)
        return -1;
    aqlipseSemaphorePage *page = 0;
    if (ftruncate(made, AQLIPSE_SEMAPHORE_BYTES) == 0 &&
        fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        page = aqlipseMapSemaphore(made);
    if (!page) {
        int error = errno;
        close(made);
        errno = error;
        return -1;
    }
    page->version = 1;
    page->kind = kind;
    page->value = kind == AQLIPSE_SEMAPHORE_BINARY ? initial != 0 : initial;
    __atomic_store_n(&page->magic, UINT64_C(0x4d455350494c5141), __ATOMIC_RELEASE);
    munmap(page, AQLIPSE_SEMAPHORE_BYTES);
    *descriptor = made;
    return 0;
}

/* Signals a semaphore: a timeline reaches `value`; a binary one ignores it. */
static inline void aqlipseSignalSemaphore(aqlipseSemaphorePage *page, uint64_t value) {
    if (page->kind == AQLIPSE_SEMAPHORE_BINARY) {
        __atomic_store_n(&page->value, 1, __ATOMIC_RELEASE);
    } else {
        uint64_t seen = __atomic_load_n(&page->value, __ATOMIC_RELAXED);
        while (seen < value && !__atomic_compare_exchange_n(&page->value, &seen, value, 0, __ATOMIC_RELEASE,
                                                            __ATOMIC_RELAXED)) {
        }
    }
    __atomic_fetch_add(&page->sequence, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &page->sequence, FUTEX_WAKE, INT_MAX, 0, 0, 0);
}

/* Waits until a timeline has reached `value`, or takes the signal of a binary semaphore, for at most `milliseconds`
 * (negative: however long it takes); -1 with ETIMEDOUT if that did not happen. */
static inline int aqlipseWaitSemaphore(aqlipseSemaphorePage *page, uint64_t value, int64_t milliseconds) {
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += milliseconds / 1000;
    end.tv_nsec += milliseconds % 1000 * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec += 1;
        end.tv_nsec -= 1000000000;
    }
    for (;;) {
        uint32_t sequence = __atomic_load_n(&page->sequence, __ATOMIC_SEQ_CST);
        uint64_t signalled = 1;
        if (page->kind == AQLIPSE_SEMAPHORE_BINARY
                ? __atomic_compare_exchange_n(&page->value, &signalled, 0, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
                : __atomic_load_n(&page->value, __ATOMIC_ACQUIRE) >= value)
            return 0;
        struct timespec left = {0, 0};
        if (milliseconds >= 0) {
            clock_gettime(CLOCK_MONOTONIC, &now);
            left.tv_sec = end.tv_sec - now.tv_sec;
            left.tv_nsec = end.tv_nsec - now.tv_nsec;
            if (left.tv_nsec < 0) {
                left.tv_sec -= 1;
                left.tv_nsec += 1000000000;
            }
            if (left.tv_sec < 0) {
                errno = ETIMEDOUT;
                return -1;
            }
        }
        syscall(SYS_futex, &page->sequence, FUTEX_WAIT, sequence, milliseconds >= 0 ? &left : 0, 0, 0);
    }
}

#ifdef __cplusplus
}
#endif
#endif
