// Thread-local words that every submit reads. The initial-exec model makes them one load from the thread pointer also in a
// library that is opened at run time; it draws on a small reserve of the loader, so only a few words may be marked.
#pragma once

#define RW_HOT_TLS __attribute__((tls_model("initial-exec")))
