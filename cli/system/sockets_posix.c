/* sockets_posix.c - see sockets.h. */
#include "sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static bool read_ipv4(const char *text, uint16_t port, cli_listen_address *out)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    if (inet_pton(AF_INET, text, &address.sin_addr) != 1)
        return false;
    out->is_loopback = ntohl(address.sin_addr.s_addr) >> 24 == 127;
    out->is_any = address.sin_addr.s_addr == htonl(INADDR_ANY);
    memcpy(out->socket.bytes, &address, sizeof address);
    return inet_ntop(AF_INET, &address.sin_addr, out->text, sizeof out->text) != NULL;
}

static bool read_ipv6(const char *text, uint16_t port, cli_listen_address *out)
{
    struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    if (inet_pton(AF_INET6, text, &address.sin6_addr) != 1)
        return false;
    out->is_ipv6 = true;
    out->is_loopback = IN6_IS_ADDR_LOOPBACK(&address.sin6_addr);
    out->is_any = IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr);
    memcpy(out->socket.bytes, &address, sizeof address);
    return inet_ntop(AF_INET6, &address.sin6_addr, out->text, sizeof out->text) != NULL;
}

bool cli_listen_address_read(const char *text, uint16_t port, cli_listen_address *out)
{
    memset(out, 0, sizeof *out);
    return read_ipv4(text, port, out) || read_ipv6(text, port, out);
}

bool cli_is_ip_address(const char *text)
{
    cli_listen_address address;
    return cli_listen_address_read(text, 0, &address);
}

bool cli_socket_peer_left(intptr_t connection)
{
    char byte;
    const ssize_t size = recv((int)connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return size == 0 || (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void cli_socket_end(intptr_t connection)
{
    (void)shutdown((int)connection, SHUT_RDWR);
}
