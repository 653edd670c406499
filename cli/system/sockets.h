/* sockets.h - addresses, and connections that another library reads and writes. */
#ifndef CLI_SOCKETS_H
#define CLI_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/* An address of this machine to listen on. `text` is as the system writes it. */
typedef struct cli_listen_address {
    union {
        uint64_t aligned;
        unsigned char bytes[128]; /* a struct sockaddr of its family */
    } socket;
    char text[64];
    bool is_ipv6;
    bool is_loopback; /* only programs on this machine reach it */
    bool is_any;      /* all addresses of the machine */
} cli_listen_address;

/* Reads an IPv4 or IPv6 address. False if it is none. */
bool cli_listen_address_read(const char *text, uint16_t port, cli_listen_address *out);

/* True if the text is an IPv4 address, or an IPv6 address without brackets. */
bool cli_is_ip_address(const char *text);

/* True if the other side has closed the connection. Takes nothing of what it sent. */
bool cli_socket_peer_left(intptr_t connection);

/* Ends the connection for both sides. Its owner, who sees that, closes it. */
void cli_socket_end(intptr_t connection);

#endif
