import type { RoomLayout } from '../../contract/index.ts';
import type { ScannedTrack, Span } from './scan.ts';
import { type Speaker, speakersOf } from './speakers.ts';

/** Participant of the room, with all tracks sent. */
interface Person {
  identity: string;
  name: string;
  /** While anything came of them. */
  spans: Span[];
  tracks: ScannedTrack[];
}

/** Participant visible in the video. */
export interface VisibleParticipant {
  name: string;
  /** null while the camera is off. */
  camera: ScannedTrack | null;
}

/** Section of the recording with a constant layout. */
export interface Scene {
  /** Frames counted from the beginning; `toFrame` is the first of the next scene. */
  fromFrame: number;
  toFrame: number;
  /** Visible participants, in the order in which they joined. */
  people: VisibleParticipant[];
  /** Participant who shares a screen, shown large; null when there is none. */
  screen: (VisibleParticipant & { camera: ScannedTrack }) | null;
  /** Participant shown large: an index in `people`; null for equal tiles. */
  speaker: number | null;
  /** Audible tracks. */
  sounds: ScannedTrack[];
}

export const FPS = 30;
/** Maximum distance of changes that count as simultaneous, such as those of a microphone and its camera. */
const TOGETHER_MS = 250;
/** Maximum length of a scene; a longer one is split, to limit temporary disk use. */
const LONGEST_FRAMES = 300 * FPS;
const MAX_VISIBLE_PARTICIPANTS = 16;
/** Gap in a participant's media after which they count as absent. */
const ABSENT_AFTER_MS = 5000;

/** @param startMs start of the recording in epoch milliseconds. */
export function scenesOf(
  tracks: readonly ScannedTrack[],
  { startMs, endMs, layout }: { startMs: number; endMs: number; layout: RoomLayout },
): Scene[] {
  const people = peopleOf(tracks);
  const speakers = layout === 'SPEAKER' ? speakersOf(people, startMs, endMs) : [];
  const scenes: Scene[] = [];
  const cuts = cutsOf(
    people,
    speakers.map(({ atMs }) => atMs),
    startMs,
    endMs,
  );
  for (const [index, { atMs, settledMs }] of cuts.entries()) {
    const toMs = cuts[index + 1]?.atMs ?? endMs;
    // Samples the scene in the middle of its remaining time, after all simultaneous changes.
    const scene = sceneAt(people, (settledMs + toMs) / 2, speakers, layout);
    const sounds = soundsIn(tracks, { fromMs: atMs, toMs });
    const [fromFrame, toFrame] = [frameAt(atMs - startMs), frameAt(toMs - startMs)];
    for (let from = fromFrame; from < toFrame; from += LONGEST_FRAMES) {
      scenes.push({ ...scene, sounds, fromFrame: from, toFrame: Math.min(toFrame, from + LONGEST_FRAMES) });
    }
  }
  return scenes;
}

function frameAt(ms: number): number {
  return Math.round((ms * FPS) / 1000);
}

function peopleOf(tracks: readonly ScannedTrack[]): Person[] {
  const people = new Map<string, Person>();
  const inOrder = tracks.toSorted((a, b) => startOf(a) - startOf(b));
  for (const track of inOrder) {
    const person = people.get(track.identity);
    if (person !== undefined) person.tracks.push(track);
    else {
      const { identity, name } = track;
      people.set(identity, { identity, name: name ?? identity, spans: [], tracks: [track] });
    }
  }
  for (const person of people.values()) person.spans = union(person.tracks.flatMap(({ spans }) => spans));
  return [...people.values()];
}

function startOf({ spans }: ScannedTrack): number {
  return spans[0]?.fromMs ?? 0;
}

function union(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1);
    if (last !== undefined && span.fromMs - last.toMs < ABSENT_AFTER_MS)
      last.toMs = Math.max(last.toMs, span.toMs);
    else joined.push({ ...span });
  }
  return joined;
}

/** Returns the times at which the layout changes, starting with the beginning. */
function cutsOf(people: readonly Person[], more: readonly number[], startMs: number, endMs: number) {
  const times = people.flatMap(({ spans, tracks }) => [
    ...spans.flatMap(edges),
    ...tracks.flatMap(({ header, spans }) => (header.kind === 'AUDIO' ? [] : spans.flatMap(edges))),
    ...tracks.flatMap(({ shapes }) => shapes.map(({ atMs }) => atMs)),
  ]);
  const cuts = [{ atMs: startMs, settledMs: startMs }];
  for (const ms of [...times, ...more].toSorted((a, b) => a - b)) {
    if (ms >= endMs) break;
    const last = cuts.at(-1);
    if (last !== undefined && ms - last.atMs < TOGETHER_MS) last.settledMs = Math.max(last.settledMs, ms);
    else cuts.push({ atMs: ms, settledMs: ms });
  }
  return cuts;
}

function edges({ fromMs, toMs }: Span): number[] {
  return [fromMs, toMs];
}

function sceneAt(
  people: readonly Person[],
  ms: number,
  speakers: readonly Speaker[],
  layout: RoomLayout,
): Pick<Scene, 'people' | 'screen' | 'speaker'> {
  const here = people.filter(({ spans }) => covers(spans, ms));
  const seen = here.map((person) => ({ person, name: person.name, camera: trackAt(person, 'CAMERA', ms) }));
  const screens = here.map((person) => ({ name: person.name, camera: trackAt(person, 'SCREEN', ms) }));
  const isHere = (identity: string) => here.some((person) => person.identity === identity);
  // The last speaker among those present; before anyone has spoken, the first who will.
  const speaking =
    speakers.findLast(({ atMs, identity }) => atMs <= ms && isHere(identity)) ??
    speakers.find(({ identity }) => isHere(identity));
  // If there are too many, participants with a camera and the active speaker come first.
  const ranked = seen
    .toSorted((a, b) => rank(a, speaking?.identity) - rank(b, speaking?.identity))
    .slice(0, MAX_VISIBLE_PARTICIPANTS);
  const shown = seen.filter((one) => ranked.includes(one));
  const index = shown.findIndex(({ person }) => person.identity === speaking?.identity);
  const screen = screens.findLast(({ camera }) => camera !== null);
  return {
    people: shown.map(({ name, camera }) => ({ name, camera })),
    screen: screen?.camera ? { name: screen.name, camera: screen.camera } : null,
    speaker: layout === 'SPEAKER' && shown.length > 1 ? Math.max(0, index) : null,
  };
}

function rank({ person, camera }: { person: Person; camera: unknown }, speaking: string | undefined): number {
  if (person.identity === speaking) return 0;
  return camera === null ? 2 : 1;
}

function trackAt(person: Person, source: 'CAMERA' | 'SCREEN', ms: number): ScannedTrack | null {
  const there = person.tracks.filter(
    (track) => track.source === source && track.header.kind === 'VIDEO' && covers(track.spans, ms),
  );
  // After a reconnect both tracks overlap for a moment: the newer one is used.
  return there.at(-1) ?? null;
}

function covers(spans: readonly Span[], ms: number): boolean {
  return spans.some(({ fromMs, toMs }) => fromMs <= ms && ms < toMs);
}

function soundsIn(tracks: readonly ScannedTrack[], { fromMs, toMs }: Span): ScannedTrack[] {
  return tracks.filter(
    ({ header, spans }) =>
      header.kind === 'AUDIO' && spans.some((span) => span.fromMs < toMs && span.toMs > fromMs),
  );
}
