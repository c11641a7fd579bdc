#define _GNU_SOURCE
#include "SandboxAttempts.h"
#include "attempts.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int tcp = -1;

void sandbox_prepare_attempts(void) { tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

static int domain(const char *name) {
    static const struct {
        const char *name;
        int number;
    } domains[] = {{"inet", AF_INET}, {"inet6", AF_INET6}, {"unix", AF_UNIX}, {"netlink", AF_NETLINK}, {"packet", AF_PACKET}};
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++)
        if (strcmp(name, domains[i].name) == 0) return domains[i].number;
    return -1;
}

static int create_socket(const char *name) {
    int number = domain(name);
    int made = socket(number, number == AF_NETLINK || number == AF_PACKET ? SOCK_RAW : SOCK_STREAM, 0);
    if (made < 0) return errno;
    close(made);
    return 0;
}

static int create_pair(const char *name) {
    int ends[2];
    if (socketpair(domain(name), SOCK_STREAM, 0, ends) != 0) return errno;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static int connect_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address.sun_path));
    if (*path == '@') address.sun_path[0] = 0;
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    if (made < 0) return errno;
    int error = connect(made, (struct sockaddr *)&address, length) == 0 ? 0 : errno;
    close(made);
    return error;
}

static int bind_tcp(const char *unused) {
    (void)unused;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return bind(tcp, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
}

// The discard service does not run, so the expected answer without a sandbox is ECONNREFUSED, which is no refusal.
static int connect_tcp(const char *unused) {
    (void)unused;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(9)};
    return connect(tcp, (struct sockaddr *)&address, sizeof address) == 0 || errno == ECONNREFUSED ? 0 : errno;
}

const struct attempt socket_attempts[] = {
    {"socket", create_socket}, {"socketpair", create_pair}, {"connect-unix", connect_unix}, {"bind-tcp", bind_tcp},
    {"connect-tcp", connect_tcp}, {NULL, NULL},
};
