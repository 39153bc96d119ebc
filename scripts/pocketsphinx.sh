#!/bin/sh
# Automatic captions by PocketSphinx, on a processor of any kind: docs/guides/captions.md#pocketsphinx.
#
#   TRANSCRIBE_COMMAND='sh /opt/marquee/scripts/pocketsphinx.sh {input} {language} <model> [<program>]'
#
# <model> is a folder that is named by its language, such as en-us, and holds en-us/, en-us.lm.bin and cmudict-en-us.dict.
set -eu
sound=$1
language=$2
model=${3%/}
program=${4:-pocketsphinx_continuous}
name=${model##*/}

case $language in
  auto | "${name%%-*}") ;;
  *)
    echo "the model hears $name, and the video is said to be in $language" >&2
    exit 1
    ;;
esac

# One word a line with its begin and end in seconds, and each utterance as a whole before.
"$program" -hmm "$model/$name" -lm "$model/$name.lm.bin" -dict "$model/cmudict-$name.dict" \
  -infile "$sound" -time yes -logfn engine.log > words || {
  tail -n 5 engine.log >&2
  exit 1
}

# A cue ends with what is said in one breath, at a pause, and where it would be hard to read.
awk -v language="$name" '
  function stamp(seconds, ms) {
    ms = int(seconds * 1000 + 0.5)
    return sprintf("%02d:%02d:%02d.%03d", ms / 3600000, ms % 3600000 / 60000, ms % 60000 / 1000, ms % 1000)
  }
  function flush() {
    if (said != "") printf "%s --> %s\n%s\n\n", stamp(from), stamp(to), said
    said = ""
    line = 0
  }
  BEGIN { printf "WEBVTT\nLanguage: %s\n\n", language }
  NF != 4 || $2 !~ /^[0-9]+\.[0-9]+$/ || $3 !~ /^[0-9]+\.[0-9]+$/ { next }
  $1 ~ /^<\/?s>$/ { flush(); next }
  $1 ~ /^(<.*>|\[.*\]|\+\+.*\+\+)$/ { next }
  {
    sub(/\([0-9]+\)$/, "", $1)
    if (said != "" && ($2 - to > 0.7 || $3 - from > 6 || length(said) + length($1) > 80)) flush()
    if (said == "") from = $2
    else if (line + length($1) > 42) { said = said "\n"; line = 0 }
    else { said = said " "; line++ }
    said = said $1
    line += length($1)
    to = $3
  }
  END { flush() }
' words
