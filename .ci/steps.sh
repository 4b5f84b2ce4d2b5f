# Sourced by tests/run.sh: named steps, run in view with their times, and the count of all that was checked.
# shellcheck shell=bash
passed=0 failed=0 skipped=0
broken=()  # the titles of the steps that failed, with their tests

clock() { printf '%d:%02d' $((SECONDS / 60)) $((SECONDS % 60)); }

# step TITLE COMMAND...: counts as one check. Status: the command's.
step() {
  local title=$1 began=$SECONDS status=0
  shift
  printf '\n=== [%s] %s\n' "$(clock)" "$title"
  "$@" || status=$?
  if [[ $status -eq 0 ]]; then
    passed=$((passed + 1))
    printf '=== [%s] ok: %s (%d s)\n' "$(clock)" "$title" $((SECONDS - began))
  else
    failed=$((failed + 1))
    broken+=("$title")
    printf '=== [%s] FAILED with status %d: %s (%d s)\n' "$(clock)" "$status" "$title" $((SECONDS - began))
  fi
  return "$status"
}

# ctest_step TITLE PRESET [ctest arguments...]: counts each test by ctest's own report. Status: ctest's.
ctest_step() {
  local title=$1 preset=$2 began=$SECONDS status=0
  local report="$PWD/build/$preset/ctest.xml"
  shift 2
  printf '\n=== [%s] %s\n' "$(clock)" "$title"
  rm -f "$report"
  ctest --preset "$preset" --output-junit "$report" "$@" || status=$?
  local all bad idle
  all=$(suite_number "$report" tests) bad=$(suite_number "$report" failures)
  idle=$(($(suite_number "$report" skipped) + $(suite_number "$report" disabled)))
  if [[ $all -eq 0 || ($status -ne 0 && $bad -eq 0) ]]; then bad=$((bad + 1)) all=$((all + 1)); fi
  passed=$((passed + all - bad - idle)) failed=$((failed + bad)) skipped=$((skipped + idle))
  [[ $bad -eq 0 ]] || broken+=("$title: $(failed_tests "$report")")
  printf '=== [%s] %d of %d passed: %s (%d s)\n' "$(clock)" $((all - bad - idle)) "$all" "$title" $((SECONDS - began))
  return "$status"
}

# Those of a JUnit report, one after the other; nothing where there is no report.
failed_tests() {
  [[ ! -f $1 ]] || sed -nE 's/.*<testcase name="([^"]*)".* status="fail".*/\1/p' "$1" | paste -sd ' '
}

# An attribute of the <testsuite> of a JUnit report; 0 where there is no report.
suite_number() {
  local found=''
  [[ ! -f $1 ]] || found=$(grep -m1 -oE "^[[:space:]]*$2=\"[0-9]+\"" "$1" | tr -cd '0-9')
  echo "${found:-0}"
}

# skip TITLE REASON: counts as one.
skip() {
  skipped=$((skipped + 1))
  printf '\n=== [%s] skipped: %s: %s\n' "$(clock)" "$1" "$2"
}

# The closing lines; the very last is "N passed, N failed". Status: 1 where anything failed.
closing_lines() {
  printf '\nTotal time: %s\n' "$(clock)"
  [[ ${#broken[@]} -eq 0 ]] || printf 'broken: %s\n' "${broken[@]}"
  printf '%d passed, %d failed' "$passed" "$failed"
  [[ $skipped -eq 0 ]] || printf ', %d skipped' "$skipped"
  printf '\n'
  [[ $failed -eq 0 ]]
}
