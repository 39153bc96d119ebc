import { baseLanguageTag, uniqueLabel } from '../../kernel/languages.ts';
import type { PlayableAudio } from '../contract/index.ts';

/** The renditions that a variant is played with, one for each sound (RFC 8216 4.3.4.1.1). */
export interface AudioGroup {
  id: string;
  members: readonly PlayableAudio[];
  averageBitrate: number;
  peakBitrate: number;
  codecs: readonly string[];
}

const DESCRIPTION = 'CHARACTERISTICS="public.accessibility.describes-video"';

/**
 * Groups the tracks: stereo for all players and, where available, surround. Groups must have equal members by
 * name, so tracks that exist only in stereo are in both.
 */
export function audioGroups(audio: readonly PlayableAudio[]): AudioGroup[] {
  const tracks = [...Map.groupBy(audio, ({ track }) => track).values()];
  if (tracks.length === 0) return [];
  const by = (better: (a: PlayableAudio, b: PlayableAudio) => number) =>
    tracks.map((renditions) => renditions.toSorted(better)).flatMap(([best]) => best ?? []);
  const stereo = group(
    'audio',
    by((a, b) => a.channels - b.channels),
  );
  const surround = group(
    'surround',
    by((a, b) => b.channels - a.channels),
  );
  return surround.members.every((member, index) => member === stereo.members[index])
    ? [stereo]
    : [stereo, surround];
}

function group(id: string, members: readonly PlayableAudio[]): AudioGroup {
  return {
    id,
    members,
    averageBitrate: Math.max(...members.map(({ averageBitrate }) => averageBitrate)),
    peakBitrate: Math.max(...members.map(({ peakBitrate }) => peakBitrate)),
    codecs: [...new Set(members.map(({ codecs }) => codecs))],
  };
}

/** The `EXT-X-MEDIA` of a group: the first plays by default, and one of a kind is chosen by the viewer's settings. */
export function renderAudioGroup({ id, members }: AudioGroup, uriSuffix: string): string[] {
  const kinds = new Set<string>();
  const names = new Set<string>();
  return members.map(({ path, language, label, channels, isDescription }, index) => {
    const kind = `${language} ${isDescription}`;
    const isFirst = !kinds.has(kind);
    kinds.add(kind);
    const attributes = [
      ...['TYPE=AUDIO', `GROUP-ID="${id}"`, `NAME="${uniqueLabel(quotable(label), names)}"`],
      ...(language === null ? [] : [`LANGUAGE="${baseLanguageTag(language)}"`]),
      `DEFAULT=${index === 0 ? 'YES' : 'NO'}`,
      `AUTOSELECT=${isFirst ? 'YES' : 'NO'}`,
      ...(isDescription ? [DESCRIPTION] : []),
      ...[`CHANNELS="${channels}"`, `URI="${path}/index.m3u8${uriSuffix}"`],
    ];
    return `#EXT-X-MEDIA:${attributes.join(',')}`;
  });
}

/** Replaces characters that a quoted attribute must not contain (RFC 8216 4.2). */
export function quotable(text: string): string {
  return text.replace(/["\r\n]/g, ' ');
}
