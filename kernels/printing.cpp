// Kernels that print, in both of the ways there are, without the device library: for tests of what printing takes.

typedef unsigned int u32;
typedef unsigned long long u64;

#define DEVICE __attribute__((device))
#define KERNEL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 64))) void
#define ALL __HIP_MEMORY_SCOPE_SYSTEM

// Where hidden arguments are, in words behind the explicit ones (LLVM AMDGPU usage, code object v5 kernel arguments).
enum Hidden { PRINTF_BUFFER = 9, HOSTCALL_BUFFER = 10 };

template <Hidden argument> DEVICE static u64 hidden() {
  return ((const __attribute__((address_space(4))) u64 *)__builtin_amdgcn_implicitarg_ptr())[argument];
}

extern "C" DEVICE int printf(const char *, ...);

// What the compiler calls for room in the buffer (-mprintf-kind=buffered): the bytes in use, all bytes, the messages.
extern "C" DEVICE char *__printf_alloc(u32 bytes) {
  u32 *head = (u32 *)hidden<PRINTF_BUFFER>();
  u32 at = __hip_atomic_fetch_add(head, bytes, __ATOMIC_RELAXED, ALL);
  return at + bytes + 8 <= head[1] ? (char *)(head + 2) + at : nullptr;
}

// Prints to the buffer that is read when the kernel is over. The result is 0 if there was room.
KERNEL print_buffered(int *result) { *result = printf("buffered %d\n", 7); }

// As src/hostcall/buffer.rs has them.
struct Head {
  u64 headers, payloads, doorbell, free, ready, mask;
};
struct Header {
  u64 next, active;
  u32 service, control;
};

// A signal (amd_hsa_signal.h): its value, and how the host is told.
struct Signal {
  u64 kind, value, mailbox;
  u32 event;
};

DEVICE static void push(u64 *stack, Header *header, u64 packet) {
  u64 top = __hip_atomic_load(stack, __ATOMIC_RELAXED, ALL);
  do __hip_atomic_store(&header->next, top, __ATOMIC_RELAXED, ALL);
  while (!__hip_atomic_compare_exchange_strong(stack, &top, packet, __ATOMIC_RELEASE, __ATOMIC_RELAXED, ALL));
}

DEVICE static u64 pop(u64 *stack, Header *headers, u64 mask) {
  u64 top = __hip_atomic_load(stack, __ATOMIC_ACQUIRE, ALL), next;
  do next = __hip_atomic_load(&headers[top & mask].next, __ATOMIC_RELAXED, ALL);
  while (!__hip_atomic_compare_exchange_strong(stack, &top, next, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE, ALL));
  return top;
}

// Calls the host to print. The result is how many bytes that were. One work-item, the first of its wave.
KERNEL print_by_calls(int *result) {
  const u32 print = 2;
  const u64 begins_and_ends = 3, words = 4;
  const u64 message[] = {begins_and_ends | words << 5, 0, 0x252064656c6c6163 /* called % */, 0x0a64 /* d\n */, 7};

  Head *head = (Head *)hidden<HOSTCALL_BUFFER>();
  u64 mask = head->mask, packet = pop(&head->free, (Header *)head->headers, mask);
  Header *header = (Header *)head->headers + (packet & mask);
  volatile u64 *payload = (u64 *)(head->payloads + (packet & mask) * 4096);
  for (u32 i = 0; i <= words; i++) payload[i] = message[i];
  header->active = 1;
  header->service = print;
  __hip_atomic_store(&header->control, 1u, __ATOMIC_RELAXED, ALL);
  push(&head->ready, header, packet);

  Signal *doorbell = (Signal *)head->doorbell;
  __hip_atomic_fetch_add(&doorbell->value, 1ull, __ATOMIC_RELEASE, ALL);
  if (doorbell->mailbox) {
    *(volatile u64 *)doorbell->mailbox = doorbell->event;
    __builtin_amdgcn_s_sendmsg(1, doorbell->event & 0xff);
  }
  while (__hip_atomic_load(&header->control, __ATOMIC_ACQUIRE, ALL) & 1) __builtin_amdgcn_s_sleep(1);
  *result = (int)payload[0];
  // With another tag, so that the top of the stack never returns unchanged.
  push(&head->free, header, packet + mask + 1);
}
