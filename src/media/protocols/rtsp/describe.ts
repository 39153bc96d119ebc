import { READ_BUDGETS } from '../../read-budget.ts';

/** One stream of an RTSP session, from its description (RFC 8866). */
export interface SdpTrack {
  kind: 'video' | 'audio';
  /** Upper case, such as `H264`; empty when not specified. */
  encoding: string;
  clockRate: number;
  parameters: ReadonlyMap<string, string>;
  /** URL for SETUP: absolute, or relative to that of the session. */
  control: string;
}

const USUAL_CLOCK_RATE = 90_000;
const MAX_CLOCK_RATE = 1_000_000;

/** @returns the control URL of the session, and its audio and video tracks. */
export function parseSdp(text: string): { control: string; tracks: SdpTrack[] } {
  const [session = [], ...media] = sections(text);
  const tracks = media.flatMap((lines) => {
    const [kind, , , payloadType] = (lines[0] ?? '').slice(2).split(' ');
    if (kind !== 'video' && kind !== 'audio') return [];
    const map = attribute(lines, `rtpmap:${payloadType} `) ?? '';
    const [encoding = '', clock = ''] = map.split('/');
    return [
      {
        kind,
        encoding: encoding.toUpperCase(),
        clockRate: clockRateOf(clock),
        parameters: parametersOf(attribute(lines, `fmtp:${payloadType} `) ?? ''),
        control: attribute(lines, 'control:') ?? '',
      } as const,
    ];
  });
  return { control: attribute(session, 'control:') ?? '*', tracks };
}

/** Returns the clock rate if it is plausible, otherwise the usual one. */
function clockRateOf(text: string): number {
  const rate = Number(text);
  return rate >= 1000 && rate <= MAX_CLOCK_RATE ? rate : USUAL_CLOCK_RATE;
}

/** That of the session, then one for each `m=`. */
function sections(text: string): string[][] {
  const found: string[][] = [[]];
  for (const line of text.split(/\r?\n/, READ_BUDGETS.rtspDescription.items)) {
    if (line.startsWith('m=')) found.push([]);
    found.at(-1)?.push(line.trim());
  }
  return found;
}

function attribute(lines: string[], name: string): string | undefined {
  return lines.find((line) => line.startsWith(`a=${name}`))?.slice(2 + name.length);
}

function parametersOf(text: string): Map<string, string> {
  return new Map(
    text.split(';').map((part) => {
      const cut = part.indexOf('=');
      return [part.slice(0, cut).trim().toLowerCase(), part.slice(cut + 1).trim()];
    }),
  );
}
