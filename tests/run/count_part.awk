# count_part.awk - prints "passed failed skipped" of the log of one part of the tests.
#
#     awk -v status=STATUS -f count_part.awk LOG
#
# A part prints TAP, or a last line "N passed, N failed, N skipped", and "skipped: WHY" for
# what it leaves out. cmocka 1.1 writes a skipped test as "not ok N # SKIP name". Silence
# must not look like success: a plan that was not kept or never told, a part that
# counted nothing, and a status that nobody explains are a failure each.
/^(not )?ok [0-9]+ (- .*)?# SKIP/ { skips++; seen++; next }
/^ok [0-9]+/ { passed++; seen++; next }
/^not ok [0-9]+/ { failed++; seen++; next }
/^1\.\.[0-9]+$/ { planned += substr($0, 4); ended++ }
/^skipped: / { noted++ }
/^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ {
    passed += $1; failed += $3; told += $5
    seen += $1 + $3 + $5
    ended++
}
END {
    if (seen < planned || seen == 0 || !ended || (status != 0 && !failed))
        failed++
    print passed + 0, failed + 0, skips + (told > noted ? told : noted)
}
