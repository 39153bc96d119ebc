import { LEVEL_MS, type ScannedTrack, type Span } from './scan.ts';

/** Participant of the room, with the loudness of their audio. */
export interface ParticipantAudio {
  identity: string;
  /** While anything came of them. */
  spans: readonly Span[];
  tracks: readonly HeardTrack[];
}

type HeardTrack = Pick<ScannedTrack, 'source' | 'loudness'> & {
  header: Pick<ScannedTrack['header'], 'startedMs'>;
};

/** Participant shown large from a time on. */
export interface Speaker {
  atMs: number;
  identity: string;
}

/**
 * Levels of speech, out of 127 with a step of one decibel (RFC 6464): a quiet room is below, and a voice
 * above.
 */
const SPEAKING = { least: 77, most: 90 };
/**
 * Level difference that counts as clearly louder: speech than the participant's own noise, and one
 * participant than another's noise.
 */
const CLEARLY = 10;
/** Share of the time assumed to have only noise. */
const NOISE_SHARE = 0.1;
/**
 * Durations in windows of the levels: maximum pause within speech, shortest turn that is more than a word,
 * and lookahead.
 */
const PAUSE = 6;
const SHORTEST = 3;
const AHEAD = 4;
/** Minimum time between layout changes. */
const HOLD_MS = 2500;

interface Voice {
  identity: string;
  spans: readonly Span[];
  levels: Uint8Array;
  /** 1 while the participant speaks, including pauses. */
  turns: Uint8Array;
}

/**
 * Selects the participants to show large. The whole recording is known, so a speaker is large from the first
 * word on, and a single word, a cough or a door changes nothing. A large participant stays large while
 * speaking, unless another one is clearly louder.
 */
export function speakersOf(people: readonly ParticipantAudio[], startMs: number, endMs: number): Speaker[] {
  const windows = Math.max(0, Math.ceil((endMs - startMs) / LEVEL_MS));
  const voices = people.map((person) => voiceOf(person, startMs, windows));
  const speakers: Speaker[] = [];
  let large: Voice | null = null;
  for (let window = 0; window < windows; window++) {
    const ms = startMs + window * LEVEL_MS;
    const next = nextOf(voices, large, window);
    if (next === null || next === large) continue;
    const isHere = large?.spans.some(({ fromMs, toMs }) => fromMs <= ms && ms < toMs) ?? false;
    if (isHere && ms - (speakers.at(-1)?.atMs ?? 0) < HOLD_MS) continue;
    large = next;
    speakers.push({ atMs: ms, identity: next.identity });
  }
  return speakers;
}

function voiceOf({ identity, spans, tracks }: ParticipantAudio, startMs: number, windows: number): Voice {
  const levels = new Uint8Array(windows);
  for (const { source, header, loudness } of tracks) {
    if (source !== 'MICROPHONE') continue;
    const shift = Math.round((header.startedMs - startMs) / LEVEL_MS);
    for (const [index, level] of loudness.entries()) {
      const window = index + shift;
      if (window >= 0 && window < windows) levels[window] = Math.max(levels[window] ?? 0, level);
    }
  }
  return { identity, spans, levels, turns: turnsIn(levels) };
}

function turnsIn(levels: Uint8Array): Uint8Array {
  const turns = new Uint8Array(levels.length);
  const voice = Math.min(SPEAKING.most, Math.max(SPEAKING.least, noiseOf(levels) + CLEARLY));
  let [from, last, loud] = [0, -1 - PAUSE, 0];
  const close = () => {
    if (loud >= SHORTEST) turns.fill(1, from, last + 1);
  };
  for (const [window, level] of levels.entries()) {
    if (level < voice) continue;
    if (window - last > PAUSE) {
      close();
      [from, loud] = [window, 0];
    }
    last = window;
    loud += 1;
  }
  close();
  return turns;
}

function noiseOf(levels: Uint8Array): number {
  const heard = levels.filter((level) => level > 0).toSorted();
  return heard[Math.floor(heard.length * NOISE_SHARE)] ?? 0;
}

/** @returns null when no participant is speaking. */
function nextOf(voices: readonly Voice[], large: Voice | null, window: number): Voice | null {
  let loudest: { voice: Voice; level: number } | null = null;
  for (const voice of voices) {
    if (voice.turns[window] !== 1) continue;
    const level = loudnessFrom(voice, window);
    if (level > (loudest?.level ?? -1)) loudest = { voice, level };
  }
  if (loudest === null) return null;
  const isSpeaking = large?.turns[window] === 1;
  if (large !== null && isSpeaking && loudest.level < loudnessFrom(large, window) + CLEARLY) return large;
  return loudest.voice;
}

/** Returns the average level of the next second. */
function loudnessFrom({ levels }: Voice, window: number): number {
  const ahead = levels.subarray(window, window + AHEAD);
  return ahead.reduce((sum, level) => sum + level, 0) / Math.max(1, ahead.length);
}
