/*
 * xml_quiet.h - keeps libxml2 from writing to standard error while it reads.
 *
 * Most of its errors go to the reader's own handler. Errors in the encoding of a document go to a
 * function of the thread, which prints them. That function is replaced between begin and end, and
 * then restored.
 */
#ifndef ETLHEAP_XML_QUIET_H
#define ETLHEAP_XML_QUIET_H

#include <libxml/xmlerror.h>

typedef struct xml_quiet {
    xmlGenericErrorFunc former;
    void *former_context;
} xml_quiet;

__attribute__((format(printf, 2, 3))) static inline void xml_say_nothing(void *context,
                                                                         const char *format, ...)
{
    (void)context, (void)format;
}

static inline xml_quiet xml_quiet_begin(void)
{
    const xml_quiet quiet = { xmlGenericError, xmlGenericErrorContext };
    xmlSetGenericErrorFunc(NULL, xml_say_nothing);
    return quiet;
}

static inline void xml_quiet_end(const xml_quiet *quiet)
{
    xmlSetGenericErrorFunc(quiet->former_context, quiet->former);
}

#endif
