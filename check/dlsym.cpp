// Programs that open the library themselves get the hooks from dlsym, too. A question with RTLD_NEXT or RTLD_DEFAULT depends on who asks,
// so it is passed on by a jump, which leaves the caller's address where it is.
#include <dlfcn.h>

#include <cstring>
#include <initializer_list>

#include "check/next.h"

extern "C" {
void* (*ropeway_check_real_dlsym)(void*, const char*) = nullptr;

__attribute__((visibility("hidden"), used)) void ropeway_check_find_dlsym() {
  if (ropeway_check_real_dlsym != nullptr) return;
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})  // the C library's own, by its versions on both architectures
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  ropeway_check_real_dlsym = reinterpret_cast<void* (*)(void*, const char*)>(found);
}

__attribute__((visibility("hidden"), used)) void* ropeway_check_dlsym(void* handle, const char* name) {
  void* const found = ropeway_check_real_dlsym(handle, name);
  if (found == nullptr || (std::strncmp(name, "acl", 3) != 0 && std::strncmp(name, "Hccl", 4) != 0)) return found;
  ropeway::check::Hook* const hook = ropeway::check::Hook::Find(name);
  if (hook == nullptr) return found;
  hook->Offer(found);
  return hook->function();
}
}

#if defined(__x86_64__)
asm(R"(
  .globl dlsym
  .type dlsym, @function
dlsym:
  endbr64
  mov ropeway_check_real_dlsym@GOTPCREL(%rip), %rax
  mov (%rax), %rax
  test %rax, %rax
  jnz 1f
  push %rdi
  push %rsi
  sub $8, %rsp
  call ropeway_check_find_dlsym
  add $8, %rsp
  pop %rsi
  pop %rdi
  mov ropeway_check_real_dlsym@GOTPCREL(%rip), %rax
  mov (%rax), %rax
1:
  lea 1(%rdi), %rcx
  cmp $1, %rcx
  ja ropeway_check_dlsym
  jmp *%rax
  .size dlsym, . - dlsym
)");
#elif defined(__aarch64__)
asm(R"(
  .globl dlsym
  .type dlsym, %function
dlsym:
  adrp x9, :got:ropeway_check_real_dlsym
  ldr x9, [x9, :got_lo12:ropeway_check_real_dlsym]
  ldr x10, [x9]
  cbnz x10, 1f
  stp x29, x30, [sp, #-48]!
  stp x0, x1, [sp, #16]
  str x9, [sp, #32]
  bl ropeway_check_find_dlsym
  ldr x9, [sp, #32]
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #48
  ldr x10, [x9]
1:
  add x11, x0, #1
  cmp x11, #1
  b.hi ropeway_check_dlsym
  br x10
  .size dlsym, . - dlsym
)");
#else
#error "dlsym has to be passed on by a jump: write it for this architecture"
#endif
