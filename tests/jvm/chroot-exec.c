/* SPDX-License-Identifier: BSD-2-Clause */
/* chroot-exec: runs a command in a chroot as if it were installed on the host.
 *
 *   chroot-exec ROOT COMMAND [ARG...]
 *
 * The command keeps its process id, working directory, environment, standard streams and signals (there is no fork), and sees the
 * host's /proc and all its top folders, but those of the system (/usr, /etc, /var and so on), under the same paths.
 *
 * All mounts live in a mount namespace of the process: none is left behind, a reboot loses nothing, and `rm -rf ROOT` on the host
 * cannot reach the host through them. /dev is a fresh tmpfs with five harmless nodes made here (null, zero, full, random, urandom), never
 * the host's: a program that removes a device node that it was told to write to (the original hprof does) removes its own copy.
 *
 * Root, or else a user namespace in which the caller keeps its own user id: the folders to be bound must then exist in ROOT. Exit status
 * 125: the chroot could not be entered; 126 and 127 as in a shell.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { CANNOT_ENTER = 125, CANNOT_RUN = 126, NOT_FOUND = 127 };

static const char *root;

static const char *in_root(const char *path)
{
    static char buf[PATH_MAX];
    if (snprintf(buf, sizeof buf, "%s%s", root, path) >= (int)sizeof buf) {
        errx(CANNOT_ENTER, "%s%s: too long", root, path);
    }
    return buf;
}

static void bind_dir(const char *from, const char *to)
{
    struct stat st;
    if (stat(from, &st) != 0) {
        return; /* a part that is not set up yet */
    }
    if (mkdir(in_root(to), 0755) != 0 && errno == EACCES) {
        return; /* a user without root, and a folder that tools/jdks did not foresee */
    }
    if (mount(from, in_root(to), NULL, MS_BIND | MS_REC, NULL) != 0) {
        err(CANNOT_ENTER, "bind %s to %s", from, in_root(to));
    }
}

/* Every top folder of the host except those that a system brings: a caller's files stay where they were. */
static void bind_tops(void)
{
    static const char *const own[] = {"bin",        "boot", "dev", "etc",  "lib", "lib32", "lib64", "libx32",
                                      "lost+found", "proc", "run", "sbin", "sys", "usr",   "var"};
    DIR *top = opendir("/");
    if (top == NULL) {
        err(CANNOT_ENTER, "/");
    }
    for (struct dirent *e = readdir(top); e != NULL; e = readdir(top)) {
        char path[2 + sizeof e->d_name];
        struct stat st;
        bool ours = e->d_name[0] == '.';
        for (size_t i = 0; i < sizeof own / sizeof *own && !ours; i++) {
            ours = strcmp(e->d_name, own[i]) == 0;
        }
        snprintf(path, sizeof path, "/%s", e->d_name);
        if (!ours && lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            bind_dir(path, path);
        }
    }
    closedir(top);
}

/* Where nodes may not be made: the host's, bound. It cannot be removed either, being a mount point. */
static void bind_node(const char *path)
{
    int fd = open(in_root(path), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0 || close(fd) != 0 || mount(path, in_root(path), NULL, MS_BIND, NULL) != 0) {
        err(CANNOT_ENTER, "bind %s", in_root(path));
    }
}

static void make_dev(void)
{
    static const struct {
        const char *path;
        unsigned major, minor;
    } nodes[] = {{"/dev/null", 1, 3}, {"/dev/zero", 1, 5}, {"/dev/full", 1, 7}, {"/dev/random", 1, 8}, {"/dev/urandom", 1, 9}};
    static const char *const links[][2] = {
        {"/proc/self/fd", "/dev/fd"}, {"fd/0", "/dev/stdin"}, {"fd/1", "/dev/stdout"}, {"fd/2", "/dev/stderr"}};

    if (mount("tmpfs", in_root("/dev"), "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k") != 0) {
        err(CANNOT_ENTER, "tmpfs on %s", in_root("/dev"));
    }
    umask(0);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        if (mknod(in_root(nodes[i].path), S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)) != 0) {
            if (errno != EPERM) {
                err(CANNOT_ENTER, "mknod %s", in_root(nodes[i].path));
            }
            bind_node(nodes[i].path);
        }
    }
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        if (symlink(links[i][0], in_root(links[i][1])) != 0) {
            err(CANNOT_ENTER, "link %s", in_root(links[i][1]));
        }
    }
}

static void write_line(const char *path, const char *line)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, line, strlen(line)) < 0 || close(fd) != 0) {
        err(CANNOT_ENTER, "%s", path);
    }
}

/* Own mounts: as root at once, else in a user namespace where the caller is who it was. */
static void enter_namespace(void)
{
    unsigned uid = geteuid(), gid = getegid();
    char map[64];
    if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) {
        err(CANNOT_ENTER, "mount namespace");
    }
    if (uid != 0) {
        write_line("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "%u %u 1", uid, uid);
        write_line("/proc/self/uid_map", map);
        snprintf(map, sizeof map, "%u %u 1", gid, gid);
        write_line("/proc/self/gid_map", map);
    }
    /* MS_SLAVE: what the host mounts later (a small file system to fill up, say) shows here, not the other way round */
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) {
        err(CANNOT_ENTER, "mount namespace");
    }
}

int main(int argc, char **argv)
{
    static char cwd[PATH_MAX];
    if (argc < 3) {
        errx(CANNOT_ENTER, "usage: chroot-exec ROOT COMMAND [ARG...]");
    }
    root = argv[1];
    if (getcwd(cwd, sizeof cwd) == NULL) {
        err(CANNOT_ENTER, "getcwd");
    }
    enter_namespace();
    mode_t mask = umask(022);
    bind_dir("/proc", "/proc");
    bind_tops();
    make_dev();
    umask(mask);
    if (chroot(root) != 0) {
        err(CANNOT_ENTER, "chroot %s", root);
    }
    if (chdir(cwd) != 0 && chdir("/") != 0) {
        err(CANNOT_ENTER, "chdir %s", cwd);
    }
    execvp(argv[2], argv + 2);
    int why = errno;
    warn("%s", argv[2]);
    return why == ENOENT ? NOT_FOUND : CANNOT_RUN;
}
