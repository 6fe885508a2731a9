/*
 * What Ropeway offers beside the drop-in API. Programs that only want to run unmodified never need this header;
 * tools, tests and people who replace kernels by host functions (ropeway/kernel.h) do.
 *
 * Every function may be called from any thread and reports problems like the rest of the API does: an aclError, and a
 * text from aclGetRecentErrMsg().
 */
#ifndef ROPEWAY_ROPEWAY_H
#define ROPEWAY_ROPEWAY_H

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"
#include "acl/detail/api_macros.h"

#define ROPEWAY_VERSION_MAJOR 0
#define ROPEWAY_VERSION_MINOR 2
#define ROPEWAY_VERSION_PATCH 0
/* 200 for 0.2.0: what a newer header has can be asked for by #if. docs/versions.md says what stays as it is from version to version. */
#define ROPEWAY_VERSION (ROPEWAY_VERSION_MAJOR * 10000 + ROPEWAY_VERSION_MINOR * 100 + ROPEWAY_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* "0.2.0". The string lives as long as the process. */
RW_API const char* ropewayGetVersion(void);

/* The engine that runs tasks in this process: "cpu", "cuda", or "none" (ROPEWAY_ENGINE=cuda, and no GPU answers). The string lives as long
 * as the process. */
RW_API const char* ropewayGetEngineName(void);

/* One line: the engine and the hardware behind it, or why it is not a GPU's. The string lives as long as the process. */
RW_API const char* ropewayGetEngineReason(void);

/*
 * One line: how much memory the devices of this process have addresses for, and what leaves them less than the settings say (a limit on the
 * address space, ThreadSanitizer, valgrind, an emulator). Known once a device was set. The string lives as long as the process.
 */
RW_API const char* ropewayGetAddressReason(void);

/*
 * One line: how the CPU engine copies in this process, as name=value words, and behind a semicolon where that comes from: a table of known
 * CPUs, what `ropeway tune` measured, settings. The string lives as long as the process, and so do those of the next two.
 */
RW_API const char* ropewayGetCopyProfile(void);
/* The file from which the words are read at start, as `ropeway tune` writes them; empty where the user has no home. */
RW_API const char* ropewayGetCopyProfilePath(void);
/* What this CPU is called in that file: "GenuineIntel-6-207". */
RW_API const char* ropewayGetCpuSignature(void);
/*
 * Copies on the calling thread in the way that such words name ("stream=avx2 ahead=2048"; what they do not say is as for a CPU that is not
 * known): around the cache, or through it. For who measures which way is the best; both are addresses that the program can reach. 107000
 * where the words cannot be used, or name a way that this CPU has not got.
 */
RW_API aclError ropewayCopyBy(const char* words, int through_cache, void* dst, const void* src, size_t size);

/*
 * A setting: an environment variable that Ropeway reads. The strings live as long as the process.
 */
typedef struct ropewaySetting {
    const char* variable;    /* "ROPEWAY_DEVICES" */
    const char* standsFor;   /* the variable that this one stands in for where that is not set, or cannot be used; or NULL */
    const char* standard;    /* what holds without it; "" for nothing */
    const char* meaning;     /* one line */
    const char* page;        /* of docs/ that says more; or NULL */
    const char* library;     /* which reads it */
    const char* placeholder; /* for a value in help texts: "N", "auto|cpu|cuda"; "" for a switch */
    char wanted[64];         /* what a value must be: "a number from 1 to 64" */
    int32_t secret;          /* 1: not to be printed */
    int32_t usable;          /* 1: the value that was asked about can be used */
} ropewaySetting;

/* The settings by number, from 0 on, and whether `value` (or NULL) would do for one. Behind the last, variable is NULL. setting NULL:
 * 100000. */
RW_API aclError ropewayGetSetting(size_t index, const char* value, ropewaySetting* setting);

/*
 * An address through which host code may read and write [devPtr, devPtr + size), which must lie inside one live device
 * block, or inside the device alias of registered host memory, whose view is that memory. The view stays valid until the
 * block is freed or the memory unregistered. Ordering is the caller's work: use it inside a host function, or after a
 * synchronise.
 *
 * Of an engine whose memory the host cannot reach (a GPU's), there are views in functions that a stream waits for: host functions,
 * blocking callbacks and kernels by stand-in. Such a view is a copy, made when it is asked for, valid until the function returns and
 * written back then, before the stream goes on: whoever else writes there meanwhile loses. Two views may not overlap unless the later lies
 * in the earlier. A function that takes its views inside and keeps them no longer works on every engine.
 *
 * NULL arguments: 100000; a range that is not inside one device block or alias, or overlaps another view: 107000; elsewhere than in such a
 * function, on such an engine: 207000, which is not the last error.
 */
RW_API aclError ropewayHostView(void* devPtr, size_t size, void** hostPtr);

/*
 * Files a text as the newest one that aclGetRecentErrMsg hands out on this thread, for libraries on top of the runtime. The last
 * error is left alone. text NULL: 100000.
 */
RW_API aclError ropewayFileErrorText(const char* text);

/*
 * Where the program made the call whose text is the newest of this thread: aclGetRecentErrMsg ends the text with it. For libraries and
 * languages on top of the runtime. site NULL: the call returned to `caller`. Else `site` says it in words ("train.py:12"), and counts when
 * the text has none and its call came out of the library that `caller` is an address of. caller NULL: 100000.
 */
RW_API aclError ropewayTellErrorSite(const void* caller, const char* site);

/* For libraries on top of the runtime: this process is rank `rank` of `ranks`. A trace that is being recorded says so; the first word
 * counts. */
RW_API aclError ropewayTellRank(uint32_t rank, uint32_t ranks);

/* 1 while a trace is recorded, else 0. The next four are for libraries on top of the runtime, too: what a trace says of their calls, and
 * what messages say of who made a block and who freed it. */
RW_API int32_t ropewayIsTraced(void);

/*
 * What this thread calls is done inside `call` of the library, which the program made at `caller` (a return address, or a place of
 * ropewayTellPlace), until caller is NULL. call NULL: the runtime's own names are used. call lives as long as the process.
 */
RW_API aclError ropewayTellCaller(const char* call, const void* caller);

/* A place in a program of another language by its name, "step.py:12", to be used as caller as often as that is called; NULL when there are
 * too many. text or place NULL: 100000. */
RW_API aclError ropewayTellPlace(const char* text, const void** place);

/* This thread begins to wait for a rank (*begun is 0, and is set), or has done so. begun NULL: 100000. */
#define ROPEWAY_ALL_RANKS 0xFFFFFFFFu
RW_API aclError ropewayTellWait(uint32_t rank, uint64_t* begun);

typedef enum ropewayLink {
    ROPEWAY_LINK_NONE = 0,
    ROPEWAY_LINK_LOCAL,         /* inside the process */
    ROPEWAY_LINK_SHARED_MEMORY, /* inside the host */
    ROPEWAY_LINK_TCP,
    ROPEWAY_LINK_UCX,
    ROPEWAY_LINK_SEVERAL,
    ROPEWAY_LINK_NAMED, /* with a number of hccl::LinkType added: as the program calls it */
    ROPEWAY_LINK_NAMED_LAST = ROPEWAY_LINK_NAMED + 7
} ropewayLink;
typedef struct ropewayTransfer {
    ropewayLink link;
    uint32_t rank; /* at the other end; ROPEWAY_ALL_RANKS: several */
    uint64_t bytes;
    uint32_t items;
} ropewayTransfer;

/* A call of a communicator, for profiles: what this thread submits is the call's, until it is told NULL. */
typedef struct ropewayCommunication {
    const char* group; /* the communicator's name */
    int32_t dataType;  /* an HcclDataType */
    uint64_t count;
} ropewayCommunication;
RW_API aclError ropewayTellCommunication(const ropewayCommunication* communication);

/* Objects and bytes that are alive in this process now; default streams and default contexts are not counted. */
typedef struct ropewayLiveCounts {
    uint64_t contexts;
    uint64_t streams;
    uint64_t events;
    uint64_t notifies;
    uint64_t deviceBlocks;
    uint64_t deviceBytes; /* as reserved: what aclrtGetMemInfo subtracts, summed over the devices */
    uint64_t hostBlocks;
    uint64_t hostBytes;
    uint64_t registrations;
    uint64_t models; /* captured graphs, and captures that are open */
    uint64_t managedBlocks;
    uint64_t managedBytes;
    uint64_t pools;        /* what they hold counts as device blocks, used or not */
    uint64_t reservations; /* of virtual addresses; physical memory counts as device or host blocks */
} ropewayLiveCounts;

/* counts NULL: 100000. Needs no context. */
RW_API aclError ropewayGetLiveCounts(ropewayLiveCounts* counts);

/*
 * Whether this process may use devices, for libraries on top to ask before they touch anything of their own:
 * 0; 507033 in a child that was forked when a device was up; 507000 when the process is ending. Takes no lock.
 */
RW_API aclError ropewayRequireUsable(void);

/*
 * Work that something outside the runtime carries out in stream order: a network, another process.
 *
 * When the stream comes to it, start(argument, operation) is called on a thread of the runtime. It must not block and may
 * call nothing of the API but ropewayFinishOperation, which any thread may call, during start or later. The stream goes on
 * when the operation is finished; a code other than 0 fails it as a failed copy would, with `text` in the message. When
 * the stream is aborted or destroyed first, drop(argument, started) is called instead of, or (started = 1) after start: a
 * started operation must be finished all the same, without effect. Both functions are told exactly once, or not at all.
 *
 * start or drop NULL: 100000. A stream that is being captured: 207000. NULL for the default stream.
 */
typedef void* ropewayOperation;
typedef void (*ropewayStartFunc)(void* argument, ropewayOperation operation);
typedef void (*ropewayDropFunc)(void* argument, int32_t started);
RW_API aclError ropewayLaunchOperation(ropewayStartFunc start, ropewayDropFunc drop, void* argument, void* stream);
/*
 * The same for a start that takes a moment and no more: it may be called by ropewayLaunchBriefOperation itself, and by the
 * ropewayFinishOperation of the operation before it, so that nobody has to be woken for it.
 */
RW_API aclError ropewayLaunchBriefOperation(ropewayStartFunc start, ropewayDropFunc drop, void* argument, void* stream);

/*
 * The same in a stream that is being captured. Whenever the graph is submitted, repeat(argument) is called by the submitting thread and
 * gives the argument that start and drop of this time have; NULL: the submit is refused with 207001. A submit that fails later drops what
 * was given. forget(argument) is called when the graph is gone, on any thread; it may not block.
 *
 * A function that is NULL, or the default stream: 100000. A stream that is not being captured: 107029. Nothing is called then.
 */
typedef void* (*ropewayRepeatFunc)(void* argument);
typedef void (*ropewayForgetFunc)(void* argument);
RW_API aclError ropewayCaptureOperation(ropewayStartFunc start, ropewayDropFunc drop, ropewayRepeatFunc repeat, ropewayForgetFunc forget,
                                        void* argument, void* stream);

/*
 * What an operation carries, between its start and its finish; the last word counts. operation NULL: what this thread submits from now on,
 * until transfer is NULL; it must live until then. transfer NULL with an operation: 100000.
 */
RW_API aclError ropewayTellTransfer(ropewayOperation operation, const ropewayTransfer* transfer);

/*
 * Between its start and its finish: the operation sends, or else receives, the message of this number, which the operation of another
 * process knows by the same. A trace of both has an arrow. operation NULL: 100000.
 */
RW_API aclError ropewayTellMessage(ropewayOperation operation, uint64_t message, int32_t sends);

/*
 * For a library that does within a call what it would launch else. 1 if an operation of the current context would be started by the call
 * that launches it on `stream`, and nobody could tell whether it was: nothing is queued, nobody captures or watches, no schedule and no
 * rule of ROPEWAY_FAULTS decides when. Else 0, also for what is no stream.
 */
RW_API int32_t ropewayIsIdle(void* stream);
/*
 * Between the two, memory that this thread finds (ropewayHostView) stays where it is, whoever frees it, as during a synchronous copy. For
 * moments: what is freed meanwhile is not given back, so whoever allocates in between may wait for himself. To end a NULL does nothing.
 */
RW_API void* ropewayBeginAccess(void);
RW_API void ropewayEndAccess(void* access);

/*
 * For a library whose operations end when other processes write memory or send something. A thread that waits for a stream calls help(0)
 * again and again before it sleeps, as long as that answers that there is something to look for (1, or 2 when whoever brings it needs the
 * core, with 4 added when some has just come), and help(1) when it stops. One function for the process; it may finish operations, and may
 * not wait. help NULL: 100000.
 */
typedef int (*ropewayHelpFunc)(int leaving);
RW_API aclError ropewayHelpWaiters(ropewayHelpFunc help);

/* Exactly once for every operation that was started; its handle is gone afterwards. operation NULL: 100000. text may be NULL. */
RW_API aclError ropewayFinishOperation(ropewayOperation operation, aclError code, const char* text);

/*
 * For a stream that a library keeps to itself: its first failure drops everything else in it, as in stop-on-failure mode, while the
 * context and its other streams go on. There is no way back. NULL: 100000, a stream of another context: 107003.
 */
RW_API aclError ropewayStopStreamOnFailure(void* stream);

/*
 * Addresses that stand for memory of another host, for libraries that carry bytes there. They cost no memory. Copies, memsets and queries
 * of the runtime answer 107000 to them; host code that touches one dies by SIGSEGV, and a line on stderr says why. address NULL or
 * size 0: 100000; no addresses left: 207001.
 */
RW_API aclError ropewayReserveRemote(size_t size, void** address);

/* NULL: 100000; not the start of a reserved range: 107000. */
RW_API aclError ropewayReleaseRemote(void* address);

#ifdef __cplusplus
}
#endif

#endif /* ROPEWAY_ROPEWAY_H */
