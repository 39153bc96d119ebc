import type { ChapterMark, PlayableRung, PlayableVideo } from '../contract/index.ts';
import { orderVariants } from '../live/master.ts';
import { type AudioGroup, audioGroups, renderAudioGroup } from './vod-audio.ts';
import { renderCaptionGroup } from './vod-captions.ts';

/** Codecs that not all players support, in the order of the playlist. */
const ADDITIONAL_CODECS = ['hvc1', 'av01'];

/**
 * Renders the master playlist of a video (RFC 8216 4.3.4): the video with stereo, again with surround where
 * there is some, and an audio-only variant for slow networks.
 *
 * @param uriSuffix a query with its `?`, appended to every URL; or empty.
 */
export function renderVodMaster({ rungs, audio, captions }: PlayableVideo, uriSuffix: string): string {
  const lines = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-INDEPENDENT-SEGMENTS'];
  const groups = audioGroups(audio);
  for (const group of groups) lines.push(...renderAudioGroup(group, uriSuffix));
  lines.push(...renderCaptionGroup(captions, uriSuffix));
  const add = ({ path, ...variant }: Variant) => {
    const attributes = [
      ...variantAttributes(variant),
      ...(captions.length === 0 ? [] : ['SUBTITLES="captions"']),
      'CLOSED-CAPTIONS=NONE',
    ];
    lines.push(`#EXT-X-STREAM-INF:${attributes.join(',')}`, `${path}/index.m3u8${uriSuffix}`);
  };
  const ordered = plainFirst(rungs);
  for (const sound of groups.length === 0 ? [null] : groups) {
    for (const rung of ordered) add({ path: rung.path, rung, sound });
  }
  const [stereo = null] = groups;
  const main = stereo?.members[0];
  if (main !== undefined) add({ path: main.path, rung: null, sound: stereo });
  lines.push(...ordered.flatMap((rung) => renderIFrameVariant(rung, uriSuffix)));
  return `${lines.join('\n')}\n`;
}

/** Sorts H.264 before the other codecs: a player that knows none of them behaves as if they were absent. */
function plainFirst(rungs: readonly PlayableRung[]): PlayableRung[] {
  const isOf = ({ codecs }: PlayableRung, family: string) => codecs.startsWith(family);
  const plain = rungs.filter((rung) => !ADDITIONAL_CODECS.some((family) => isOf(rung, family)));
  return [plain, ...ADDITIONAL_CODECS.map((family) => rungs.filter((rung) => isOf(rung, family)))].flatMap(
    orderVariants,
  );
}

interface Variant {
  /** Path of its playlist. */
  path: string;
  /** Null for the audio-only variant. */
  rung: PlayableRung | null;
  /** Null for a silent video. */
  sound: AudioGroup | null;
}

function variantAttributes({ rung, sound }: Omit<Variant, 'path'>): string[] {
  return [
    `BANDWIDTH=${(rung?.peakBitrate ?? 0) + (sound?.peakBitrate ?? 0)}`,
    `AVERAGE-BANDWIDTH=${(rung?.averageBitrate ?? 0) + (sound?.averageBitrate ?? 0)}`,
    `CODECS="${[...(rung === null ? [] : [rung.codecs]), ...(sound?.codecs ?? [])].join(',')}"`,
    ...(rung === null ? [] : [`RESOLUTION=${rung.width}x${rung.height}`]),
    ...(rung === null || rung.frameRate === null ? [] : [`FRAME-RATE=${rung.frameRate.toFixed(3)}`]),
    ...(rung === null ? [] : [`VIDEO-RANGE=${rung.videoRange}`]),
    ...(sound === null ? [] : [`AUDIO="${sound.id}"`]),
  ];
}

/**
 * Renders a variant of keyframes only, for seek previews and fast playback (draft-pantos-hls-rfc8216bis
 * 4.4.6.3).
 */
function renderIFrameVariant(rung: PlayableRung, uriSuffix: string): string[] {
  const { path, codecs, width, height, videoRange, iframeBitrate } = rung;
  if (iframeBitrate === null) return [];
  const attributes = [
    ...[`BANDWIDTH=${iframeBitrate}`, `CODECS="${codecs}"`, `RESOLUTION=${width}x${height}`],
    ...[`VIDEO-RANGE=${videoRange}`, `URI="${path}/iframes.m3u8${uriSuffix}"`],
  ];
  return [`#EXT-X-I-FRAME-STREAM-INF:${attributes.join(',')}`];
}

/** Renders a media playlist with the whole caption file as its only segment. */
export function renderCaptionPlaylist(file: string, durationSec: number, uriSuffix: string): string {
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${Math.max(1, Math.ceil(durationSec))}`,
    '#EXT-X-PLAYLIST-TYPE:VOD',
    `#EXTINF:${durationSec.toFixed(6)},`,
    `${file}${uriSuffix}`,
    '#EXT-X-ENDLIST',
  ];
  return `${lines.join('\n')}\n`;
}

/** WebVTT of kind `chapters`; each lasts until the next one. */
export function renderChapters(chapters: readonly ChapterMark[], durationSec: number): string {
  const cues = chapters.map(({ startSec, title }, index) => {
    const endSec = chapters[index + 1]?.startSec ?? Math.max(durationSec, startSec + 1);
    return `${timestamp(startSec)} --> ${timestamp(endSec)}\n${cueText(title)}\n`;
  });
  return `WEBVTT\n\n${cues.join('\n')}`;
}

/** Puts a query after every address of a stored media playlist. */
export function suffixPlaylist(text: string, uriSuffix: string): string {
  if (uriSuffix === '') return text;
  return text
    .replace(/^[^#\r\n][^\r\n]*/gm, (uri) => uri + uriSuffix)
    .replace(/^(#EXT-X-MAP:.*?URI=")([^"]*)/gm, (_tag, before, uri) => before + uri + uriSuffix);
}

/** Appends the suffix to the images listed in a storyboard. */
export function suffixStoryboard(text: string, uriSuffix: string): string {
  return text.replace(/^([\w.-]+\.jpg)(?=#|\r?$)/gm, (uri) => uri + uriSuffix);
}

/** `hh:mm:ss.mmm` */
function timestamp(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const part = (divisor: number, modulus: number, digits: number) =>
    String(Math.floor(ms / divisor) % modulus).padStart(digits, '0');
  return `${part(3_600_000, 1000, 2)}:${part(60_000, 60, 2)}:${part(1000, 60, 2)}.${part(1, 1000, 3)}`;
}

/** One line in which nothing reads as markup. Players show chapters as they stand, so little is escaped. */
function cueText(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line
    .replace(/&(?=#|\w+;)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('-->', '--&gt;');
}
