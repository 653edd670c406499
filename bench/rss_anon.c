/*
 * rss_anon.c - runs a command and says how much anonymous memory it held.
 *
 *     rss_anon COMMAND...     on stderr, as the last line: {"rss_anon":bytes, "vm_hwm":bytes,
 *                             "samples":n, "seconds":s, "cpu_seconds":s}
 *
 * RssAnon leaves out mapped files, whose pages the system takes back when it
 * needs them; the peak that the kernel keeps (VmHWM) counts them. Nothing keeps
 * the peak of RssAnon, so /proc/PID/status is read every two milliseconds: a
 * shorter peak may be missed.
 */
#include "bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLE_NS 2000000

typedef struct peaks {
    u64 rss_anon_kib;
    u64 vm_hwm_kib;
    u64 samples;
} peaks;

static int watch(pid_t child, const sigset_t *ended, double begin);
static double seconds_of(struct timeval t);
static void sample(const char *path, peaks *p);
static void keep_larger(const char *status, const char *name, u64 *kib);

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: rss_anon COMMAND...\n");
        return 2;
    }
    sigset_t ended, before;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, &before);
    const double begin = bench_now_seconds();
    const pid_t child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    if (child < 0) {
        perror("fork");
        return 1;
    }
    return watch(child, &ended, begin);
}

/* Samples until the command ends, and notices the end at once: waiting for the next
 * sample would add a millisecond to its time. */
static int watch(pid_t child, const sigset_t *ended, double begin)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)child);
    peaks p = { 0 };
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        sample(path, &p);
        sigtimedwait(ended, NULL, &(struct timespec){ .tv_nsec = SAMPLE_NS });
    }
    const double seconds = bench_now_seconds() - begin;
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    fprintf(stderr,
            "{\"rss_anon\":%llu,\"vm_hwm\":%llu,\"samples\":%llu,\"seconds\":%.4f,"
            "\"cpu_seconds\":%.4f}\n",
            (unsigned long long)(p.rss_anon_kib * ETL_KIB),
            (unsigned long long)(p.vm_hwm_kib * ETL_KIB), (unsigned long long)p.samples, seconds,
            seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void sample(const char *path, peaks *p)
{
    char text[8192];
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return;
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    keep_larger(text, "\nRssAnon:", &p->rss_anon_kib);
    keep_larger(text, "\nVmHWM:", &p->vm_hwm_kib);
    p->samples++;
}

static void keep_larger(const char *status, const char *name, u64 *kib)
{
    const char *const at = strstr(status, name);
    if (at != NULL)
        *kib = etl_max_u64(*kib, strtoull(at + strlen(name), NULL, 10));
}
