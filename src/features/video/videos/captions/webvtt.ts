import { badRequest } from '../../../../kernel/errors.ts';

interface Cue {
  startMs: number;
  endMs: number;
  settings: string;
  text: string;
}

/** Consecutive lines without an empty line between them. */
interface Block {
  /** Counts from 1. */
  line: number;
  lines: string[];
}

/**
 * Converts WebVTT or SubRip text to the WebVTT that is served, rewritten from the parsed cues. Cues are
 * ordered by start time; comments, styles, regions and all markup except bold, italics, underlining and the
 * speaker's name are left out.
 *
 * @param field of the request, for the errors.
 * @throws {AppError} BAD_REQUEST with the line that is neither.
 */
export function toWebVtt(text: string, field: string): string {
  const cues = readCues(text, field);
  if (cues.length === 0)
    throw badRequest(field, 'No cues found. Send captions in WebVTT or SubRip (SRT) format.');
  return write(cues);
}

/**
 * Converts text written by a program, which cannot be corrected by its author: parts that form no cue are
 * left out.
 *
 * @param startSec where the video begins on the clock of the text, and `endSec` where it ends.
 * @returns null when there are no cues.
 */
export function readWebVtt(text: string, startSec: number, endSec = Number.POSITIVE_INFINITY): string | null {
  const shiftMs = Math.round(startSec * 1000);
  const lengthMs = Math.round((endSec - startSec) * 1000);
  const cues = programCues(text)
    .map((cue) => ({
      ...cue,
      startMs: Math.max(0, cue.startMs - shiftMs),
      endMs: Math.min(cue.endMs - shiftMs, lengthMs),
    }))
    .filter(({ startMs, endMs }) => endMs > 0 && startMs < lengthMs);
  return cues.length === 0 ? null : write(cues);
}

function write(cues: readonly Cue[]): string {
  return `WEBVTT\n\n${cues.map(writeCue).join('\n')}`;
}

/** @throws {AppError} BAD_REQUEST with the line that is not part of a cue. */
function readCues(text: string, field: string): Cue[] {
  const { isVtt, blocks } = contentOf(text);
  const refuse = (line: number, reason: string) => badRequest(field, `Line ${line}: ${reason}.`);
  return inOrder(blocks.map((block) => readCue(block, isVtt ? VTT_TIME : SRT_TIME, refuse)));
}

/** Returns the cues that contain text, ordered by start time. */
function inOrder(cues: readonly Cue[]): Cue[] {
  return cues
    .filter((cue) => cue.text.replace(/<[^<>]*>/g, '').trim() !== '')
    .sort((a, b) => a.startMs - b.startMs);
}

/** ASS vector drawings (`{\p1}m 0 0 l 100 0`), and the ASS escape for a non-breaking space. */
const DRAWING = /^m -?\d[-\d.mnlbspc\s]*$/;
const HARD_SPACE = /\\h/g;

/**
 * Parses cues written by ffmpeg, which keeps empty lines of a text: a block without timing belongs to the cue
 * before it.
 */
function programCues(text: string): Cue[] {
  const open: { timing: Timing; lines: string[] }[] = [];
  for (const { lines } of contentOf(text).blocks) {
    // The first line may be the identifier of the cue.
    const at = lines[1] !== undefined && timingIn(lines[1]) !== null ? 1 : 0;
    for (const line of lines.slice(at)) {
      const timing = timingIn(line);
      if (timing === null) open.at(-1)?.lines.push(line);
      else open.push({ timing, lines: [] });
    }
  }
  const cues = open.flatMap(({ timing, lines }) => {
    const payload = lines.join('\n').replace(HARD_SPACE, ' ');
    const isRead = timing.endMs > timing.startMs && payload.length <= MAX_CUE && !DRAWING.test(payload);
    return isRead ? [{ ...timing, text: cleanText(payload) }] : [];
  });
  return inOrder(cues);
}

type Timing = Omit<Cue, 'text'>;
/** Matches a line meant as a timing, whether it can be parsed or not. */
const LOOSE_TIMING = /^[ \t]*([-\d:.,]{1,40})[ \t]*-->[ \t]*([-\d:.,]{1,40})(?:[ \t]+(.*))?$/;

/** Returns null for a line of text; a timing that cannot be parsed has no duration. */
function timingIn(line: string): Timing | null {
  if (!line.includes('-->')) return null;
  const [, start = '', end = '', settings = ''] = LOOSE_TIMING.exec(line) ?? [];
  if (!start.includes(':') || !end.includes(':')) return null;
  const [startMs, endMs] = [start, end].map((time) => readTime(time, VTT_TIME) ?? readTime(time, SRT_TIME));
  if (startMs == null || endMs == null) return { startMs: 0, endMs: 0, settings: '' };
  return { startMs, endMs, settings: positionSettings(settings) };
}

/** Returns the text blocks without the header, comments, styles and regions. */
function contentOf(text: string): { isVtt: boolean; blocks: Block[] } {
  const lines = text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n');
  const isVtt = /^WEBVTT(?:[ \t]|$)/.test(lines[0] ?? '');
  const blocks = blocksOf(lines);
  return { isVtt, blocks: isVtt ? blocks.slice(1).filter((block) => !isAside(block)) : blocks };
}

function blocksOf(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') {
      open = null;
    } else if (open === null) {
      open = { line: index + 1, lines: [line] };
      blocks.push(open);
    } else {
      open.lines.push(line);
    }
  }
  return blocks;
}

/** A comment, a style sheet or a region. */
function isAside({ lines: [first = ''] }: Block): boolean {
  return /^NOTE(?:[ \t]|$)/.test(first) || /^(?:STYLE|REGION)[ \t]*$/.test(first);
}

const MAX_CUE = 10_000;
const TIMING = /^[ \t]*(\S+)[ \t]+-->[ \t]+(\S+)(?:[ \t]+(.*))?$/;
/** Hours, minutes, seconds, milliseconds. */
const VTT_TIME = /^(?:(\d{2,4}):)?([0-5]\d):([0-5]\d)\.(\d{3})$/;
const SRT_TIME = /^(\d{1,4}):([0-5]?\d):([0-5]?\d)[,.](\d{1,3})$/;

function readCue({ line, lines }: Block, time: RegExp, refuse: (line: number, reason: string) => Error): Cue {
  // The first line may be the identifier of the cue.
  const at = lines[0]?.includes('-->') ? 0 : 1;
  const timing = TIMING.exec(lines[at] ?? '');
  if (timing === null)
    throw refuse(line + at, 'expected a time range, such as 00:00:01.000 --> 00:00:03.500');
  const [, start = '', end = '', settings = ''] = timing;
  const startMs = readTime(start, time);
  const endMs = readTime(end, time);
  if (startMs === null || endMs === null) throw refuse(line + at, 'invalid time');
  if (endMs <= startMs) throw refuse(line + at, 'the cue ends before it starts');
  const payload = lines.slice(at + 1);
  const stray = payload.findIndex((text) => text.includes('-->'));
  if (stray >= 0) throw refuse(line + at + 1 + stray, 'an empty line is missing before this cue');
  const text = payload.join('\n');
  if (text.length > MAX_CUE) throw refuse(line + at + 1, `a cue must have at most ${MAX_CUE} characters`);
  return { startMs, endMs, settings: positionSettings(settings), text: cleanText(text) };
}

function readTime(text: string, pattern: RegExp): number | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const [, hours = '0', minutes = '', seconds = '', fraction = ''] = match;
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1000 + Number(fraction.padEnd(3, '0'));
}

const PERCENT = '\\d{1,3}(?:\\.\\d{1,6})?%';
const SETTING = new RegExp(
  [
    'vertical:(?:rl|lr)',
    `line:(?:-?\\d{1,4}|${PERCENT})(?:,(?:start|center|end))?`,
    `position:${PERCENT}(?:,(?:line-left|center|line-right))?`,
    `size:${PERCENT}`,
    'align:(?:start|center|end|left|right)',
  ]
    .map((setting) => `^${setting}$`)
    .join('|'),
);

/**
 * Returns the position settings of a cue; everything else, such as the coordinates of SubRip, is left out.
 */
function positionSettings(text: string): string {
  return text
    .split(/[ \t]+/)
    .filter((setting) => SETTING.test(setting))
    .join(' ');
}

/** A tag or a time; any other < is a character. */
const TAG = /(<\/?[A-Za-z][^<>]*>|<\d[\d:.]*>)/;
/** Markup that every player knows; balanced, without classes and attributes. */
const KEPT_TAG = /^<(\/?)([biuv])(?:[.\s][^<>]*)?>$/i;

function cleanText(payload: string): string {
  const open: string[] = [];
  const close = (name: string) => {
    if (!open.includes(name)) return '';
    const closing = open.splice(open.lastIndexOf(name)).reverse();
    return closing.map((one) => `</${one}>`).join('');
  };
  // SubRip files contain the position as {\an8}.
  const tokens = payload.replace(/\{\\[^{}]*\}/g, '').split(TAG);
  const written = tokens.map((token, index) => {
    // Every second one is a tag.
    if (index % 2 === 0) return plain(token);
    const [, slash, tag = ''] = KEPT_TAG.exec(token) ?? [];
    const name = tag.toLowerCase();
    if (name === '') return '';
    if (slash === '/') return close(name);
    // Voice spans do not nest, and a tag that is already open is not opened again.
    const before = name === 'v' ? close(name) : '';
    if (open.includes(name)) return '';
    open.push(name);
    return name === 'v' ? `${before}<v ${speaker(token)}>` : `<${name}>`;
  });
  const text =
    written.join('') +
    open
      .reverse()
      .map((one) => `</${one}>`)
      .join('');
  // An empty line would end the cue.
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

function speaker(tag: string): string {
  const name = /^<v(?:\.\S*)?\s+([^<>]*)>$/i.exec(tag)?.[1] ?? '';
  return plain(name).replace(/\s+/g, ' ').trim();
}

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&nbsp;': '\u00A0',
  '&lrm;': '\u200E',
  '&rlm;': '\u200F',
};

/** Returns text in its only safe encoding, without control characters. */
function plain(text: string): string {
  return text
    .replace(/&(?:amp|lt|gt|nbsp|lrm|rlm);/g, (entity) => ENTITIES[entity] ?? entity)
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

function writeCue({ startMs, endMs, settings, text }: Cue): string {
  const timing = `${writeTime(startMs)} --> ${writeTime(endMs)}`;
  return `${settings === '' ? timing : `${timing} ${settings}`}\n${text}\n`;
}

function writeTime(ms: number): string {
  const pad = (value: number, length = 2) => String(value).padStart(length, '0');
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return `${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}:${pad(seconds % 60)}.${pad(ms % 1000, 3)}`;
}
