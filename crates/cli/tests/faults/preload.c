/* Faults in file operations, for tests. The library counts the operations that change a folder,
 * and disturbs one of them.
 *
 * FAULTS_FOLDER  the folder: an absolute path
 * FAULTS_LOG     a file outside of it, which gets one line for each operation
 * FAULTS_AT      the operation to disturb, counted from 1; 0 disturbs none
 * FAULTS_MODE    kill: the process ends before the operation
 *                tear: half of the bytes are written, then the process ends
 *                fail: the operation fails with an input/output error, the next ones do not
 *                full: this operation and all later ones that need space fail
 *                read-only: this operation and all later ones fail
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *folder;
static const char *mode;
static long at;
static int log_file = -1;
static long operations;

__attribute__((constructor)) static void begin(void) {
    folder = getenv("FAULTS_FOLDER");
    mode = getenv("FAULTS_MODE");
    const char *number = getenv("FAULTS_AT"), *log = getenv("FAULTS_LOG");
    at = number ? atol(number) : 0;
    if (log) log_file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static int inside(const char *path) {
    size_t length = folder ? strlen(folder) : 0;
    return length && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

/* Finds the absolute path of a file that a folder's descriptor and a name refer to. */
static const char *resolve(int from, const char *name, char *path) {
    char link[64];
    if (name && name[0] == '/') return name;
    if (from == AT_FDCWD) {
        if (!getcwd(path, PATH_MAX)) return "";
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", from);
        ssize_t length = readlink(link, path, PATH_MAX - 1);
        if (length < 0) return "";
        path[length] = 0;
    }
    if (name) {
        size_t length = strlen(path);
        snprintf(path + length, PATH_MAX - length, "/%s", name);
    }
    return path;
}

enum fault { NONE, FAIL, TEAR };

static void end(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* Counts an operation. Says whether it must fail; `errno` then has the reason. */
static enum fault count(const char *what, int from, const char *name, int needs_space) {
    char path[PATH_MAX], line[PATH_MAX + 64];
    const char *full = resolve(from, name, path);
    if (!inside(full)) return NONE;
    long number = __atomic_add_fetch(&operations, 1, __ATOMIC_SEQ_CST);
    int length = snprintf(line, sizeof line, "%s %s\n", what, full + strlen(folder));
    if (log_file >= 0) syscall(SYS_write, log_file, line, length);
    if (!at || number < at) return NONE;
    if (!strcmp(mode, "kill")) end();
    if (!strcmp(mode, "tear") && number == at) {
        if (strcmp(what, "write")) end();
        return TEAR;
    }
    errno = EIO;
    if (!strcmp(mode, "fail") && number == at) return FAIL;
    errno = ENOSPC;
    if (!strcmp(mode, "full") && needs_space) return FAIL;
    errno = EROFS;
    if (!strcmp(mode, "read-only")) return FAIL;
    return NONE;
}

static int open_file(int from, const char *path, int flags, mode_t rights) {
    int creates = flags & O_CREAT, writes = creates || (flags & O_ACCMODE) != O_RDONLY;
    if (writes && count(creates ? "create" : "open", from, path, creates)) return -1;
    return syscall(SYS_openat, from, path, flags, rights);
}

#define RIGHTS(flags) \
    mode_t rights = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list list; va_start(list, flags); rights = va_arg(list, mode_t); va_end(list); }

int open(const char *path, int flags, ...) { RIGHTS(flags) return open_file(AT_FDCWD, path, flags, rights); }
int open64(const char *path, int flags, ...) { RIGHTS(flags) return open_file(AT_FDCWD, path, flags | O_LARGEFILE, rights); }
int openat(int from, const char *path, int flags, ...) { RIGHTS(flags) return open_file(from, path, flags, rights); }
int openat64(int from, const char *path, int flags, ...) { RIGHTS(flags) return open_file(from, path, flags | O_LARGEFILE, rights); }

ssize_t write(int file, const void *bytes, size_t length) {
    switch (count("write", file, NULL, 1)) {
    case FAIL: return -1;
    case TEAR: syscall(SYS_write, file, bytes, length / 2); end();
    default: return syscall(SYS_write, file, bytes, length);
    }
}

ssize_t writev(int file, const struct iovec *parts, int number) {
    switch (count("write", file, NULL, 1)) {
    case FAIL: return -1;
    case TEAR: syscall(SYS_write, file, parts[0].iov_base, parts[0].iov_len / 2); end();
    default: return syscall(SYS_writev, file, parts, number);
    }
}

ssize_t copy_file_range(int from, off64_t *begin, int to, off64_t *place, size_t length, unsigned flags) {
    if (count("write", to, NULL, 1)) return -1;
    return syscall(SYS_copy_file_range, from, begin, to, place, length, flags);
}

int fsync(int file) { return count("fsync", file, NULL, 0) ? -1 : syscall(SYS_fsync, file); }
int fdatasync(int file) { return count("fsync", file, NULL, 0) ? -1 : syscall(SYS_fdatasync, file); }
int ftruncate(int file, off_t length) { return count("truncate", file, NULL, 0) ? -1 : syscall(SYS_ftruncate, file, length); }
int ftruncate64(int file, off64_t length) { return count("truncate", file, NULL, 0) ? -1 : syscall(SYS_ftruncate, file, length); }
int rename(const char *from, const char *to) {
    return count("rename", AT_FDCWD, to, 0) ? -1 : syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int unlink(const char *path) { return count("unlink", AT_FDCWD, path, 0) ? -1 : syscall(SYS_unlinkat, AT_FDCWD, path, 0); }
int unlinkat(int from, const char *path, int flags) {
    return count("unlink", from, path, 0) ? -1 : syscall(SYS_unlinkat, from, path, flags);
}
int rmdir(const char *path) { return count("rmdir", AT_FDCWD, path, 0) ? -1 : syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR); }
int mkdir(const char *path, mode_t rights) { return count("mkdir", AT_FDCWD, path, 1) ? -1 : syscall(SYS_mkdirat, AT_FDCWD, path, rights); }
