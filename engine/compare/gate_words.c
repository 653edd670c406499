/* gate_words.c - the words for scopes, outcomes and doubts. */
#include "gate.h"

static const char *const scope_words[] = {
#define SCOPE_WORD(name, word) [ETLHEAP_SCOPE_##name] = word,
    ETLHEAP_SCOPES(SCOPE_WORD)
#undef SCOPE_WORD
};

static const char *const outcome_words[] = {
#define OUTCOME_WORD(name, word) [ETLHEAP_OUTCOME_##name] = word,
    ETLHEAP_OUTCOMES(OUTCOME_WORD)
#undef OUTCOME_WORD
};

typedef struct doubt_row {
    const char *word, *sentence;
} doubt_row;

static const doubt_row doubts[] = {
#define DOUBT_ROW(name, word, sentence) [ETLHEAP_DOUBT_##name] = { word, sentence },
    ETLHEAP_DOUBTS(DOUBT_ROW)
#undef DOUBT_ROW
};

const char *etlheap_scope_word(etlheap_scope scope)
{
    return (u32)scope < ETLHEAP_SCOPE_COUNT ? scope_words[scope] : "";
}

const char *etlheap_outcome_word(etlheap_outcome outcome)
{
    return (u32)outcome < ETLHEAP_OUTCOME_COUNT ? outcome_words[outcome] : "";
}

const char *etlheap_doubt_word(etlheap_doubt doubt)
{
    return (u32)doubt < ETLHEAP_DOUBT_COUNT ? doubts[doubt].word : "";
}

const char *etlheap_doubt_sentence(etlheap_doubt doubt)
{
    return (u32)doubt < ETLHEAP_DOUBT_COUNT ? doubts[doubt].sentence : "";
}
