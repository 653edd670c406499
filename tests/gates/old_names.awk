# old_names.awk - words of the code that have another name: one concept, one name.
#
# Reads C files, comments and all. A row of the table below is a word, and what is said instead;
# parts of names count (frames_settle), longer words do not (planes). A row of `allowed` is a file
# in which the word has its one meaning, or a name that is public and stays.

BEGIN {
    instead["journal"] = "event list, shard events or entry"
    instead["journals"] = "event lists"
    instead["lane"] = "worker, kind or processor"
    instead["lanes"] = "workers, kinds or processors"
    instead["settle"] = "finish, number, decide or resolve"
    instead["settles"] = "finishes, decides or resolves"
    instead["settled"] = "finished, numbered, decided or resolved"
    instead["unsettled"] = "undecided or unresolved"
    instead["settler"] = "finisher"
    instead["nameless"] = "unnamed, or unlinked for a file"
    instead["census"] = "inventory"
    instead["lattice"] = "cuts"

    # Lanes of vectors, as processors and codecs have them.
    allowed["lane", "engine/core/tag_groups.h"] = allowed["lanes", "engine/core/tag_groups.h"] = 1
    allowed["lane", "engine/log/ehs_pack.c"] = allowed["lanes", "engine/log/ehs_pack.c"] = 1
    allowed["lane", "engine/log/ehs_pack.h"] = allowed["lanes", "engine/log/ehs_pack.h"] = 1
    allowed["lane", "tests/unit/log/test_ehs_pack.c"] = allowed["lanes", "tests/unit/log/test_ehs_pack.c"] = 1
    allowed["lane", "tests/unit/context/test_stacks.c"] = 1
    allowed["lane", "tests/faults/fault_large.c"] = 1
    # etlheap_kind_info.lane is public, as is etlheap_sink_settle.
    allowed["lane", "engine/etlheap_kinds.h"] = 1
}

FNR == 1 { files++ }

# Most lines have none of them.
!/journal|JOURNAL|Journal|lane|LANE|Lane|settle|SETTLE|Settle|nameless|NAMELESS|census|CENSUS|lattice|LATTICE/ { next }

{
    line = $0
    gsub(/etlheap_sink_settle|"[a-z]+\.lanes?"|(->|\.)lane/, " ", line)
    count = split(tolower(line), words, /[^a-z]+/)
    for (i = 1; i <= count; i++) {
        if (words[i] in instead && !((words[i], FILENAME) in allowed)) {
            printf "%s:%d: say %s instead of %s\n", FILENAME, FNR, instead[words[i]], words[i]
            wrong++
        }
    }
}

END {
    if (!files) {
        print "old_names.awk: no files given"
        exit 1
    }
    exit wrong > 0
}
