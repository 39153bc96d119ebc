import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { VideoDetails } from './repository.ts';

export const Rendition = namedSchema(
  'Rendition',
  Type.Object({
    name: Type.String({ examples: ['1080p'] }),
    codec: OneOf(VALUES.video_rendition.codec),
    width: Type.Integer(),
    height: Type.Integer(),
    bitrate: Type.Integer({ description: 'Average bitrate in bits per second.' }),
    frameRate: Type.Number(),
  }),
  { name: '1080p', codec: 'H264', width: 1920, height: 1080, bitrate: 4_500_000, frameRate: 30 },
);

export const PendingRendition = namedSchema(
  'PendingRendition',
  Type.Object({
    name: Type.String({ examples: ['1080p'] }),
    width: Type.Integer(),
    height: Type.Integer(),
    progressPercent: Type.Number({ minimum: 0, maximum: 100 }),
  }),
  { name: '1080p', width: 1920, height: 1080, progressPercent: 42 },
);

export const AudioTrack = namedSchema(
  'AudioTrack',
  Type.Object({
    language: Nullable(Type.String({ description: 'BCP 47 tag; null if the file does not specify it.' })),
    label: Type.String({ description: 'Name shown in players; unique within the video.' }),
    channels: Type.Integer({
      description: 'Number of channels; six for 5.1, which is also available in stereo.',
    }),
    isDefault: Type.Boolean(),
    isDescription: Type.Boolean({ description: 'Whether it is an audio description.' }),
  }),
  { language: 'en', label: 'English', channels: 6, isDefault: true, isDescription: false },
);

type Row = Pick<VideoDetails, 'renditions'>;
type RenditionRow = Row['renditions'][number];

const isReady = ({ status }: RenditionRow) => status === 'READY';
const codecOf = ({ codec }: RenditionRow) => codec ?? 'H264';

function videoRenditionsOf({ renditions }: Row): RenditionRow[] {
  return renditions.filter(({ kind }) => kind === 'VIDEO');
}

function sizeOf({ name, width, height }: RenditionRow) {
  return { name, width: width ?? 0, height: height ?? 0 };
}

/** Reports whether any rendition is playable. */
export function canBePlayed(row: Row): boolean {
  return videoRenditionsOf(row).some(isReady);
}

export function toRenditions(row: Row): Static<typeof Rendition>[] {
  return videoRenditionsOf(row)
    .filter(isReady)
    .map((rendition) => ({
      ...sizeOf(rendition),
      codec: codecOf(rendition),
      bitrate: rendition.average_bitrate ?? 0,
      frameRate: rendition.frame_rate ?? 0,
    }));
}

export function toPending(row: Row): Static<typeof PendingRendition>[] {
  // Renditions in other codecs come when the video is READY.
  return videoRenditionsOf(row)
    .filter((rendition) => !isReady(rendition) && codecOf(rendition) === 'H264')
    .map((rendition) => ({ ...sizeOf(rendition), progressPercent: Math.floor(rendition.progress_percent) }));
}

/** A track that is there in stereo and as 5.1 is one. */
export function toAudioTracks({ renditions }: Row): Static<typeof AudioTrack>[] {
  const heard = renditions.filter((one) => one.kind === 'AUDIO' && isReady(one));
  const tracks = new Map<number, Static<typeof AudioTrack>>();
  for (const { track, language, label, channels, is_description: isDescription } of heard) {
    const number = track ?? 0;
    const most = Math.max(channels ?? 0, tracks.get(number)?.channels ?? 0);
    const facts = { language, label: label ?? '', channels: most };
    tracks.set(number, { ...facts, isDefault: number === 0, isDescription });
  }
  return [...tracks].toSorted(([a], [b]) => a - b).map(([, track]) => track);
}
