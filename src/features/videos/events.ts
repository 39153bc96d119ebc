import Type from 'typebox';
import { defineEvent } from '../../events/catalogue.ts';
import { Instant, Nullable } from '../../http/schema.ts';

/** The event of a video that is ready to play (contract 6.5, `api.md` C9). */
export const videoEvents = [
  defineEvent({
    type: 'video.processing.completed',
    description: 'Every rendition of a video is ready.',
    data: Type.Object({
      videoId: Type.String(),
      title: Type.String(),
      status: Type.Literal('READY'),
      durationSec: Nullable(Type.Number()),
      width: Nullable(Type.Integer()),
      height: Nullable(Type.Integer()),
      renditions: Type.Array(Type.String()),
      playbackUrl: Nullable(Type.String()),
      thumbnailUrl: Nullable(Type.String()),
      externalId: Nullable(Type.String()),
      completedAt: Instant,
      sequence: Type.Integer({ minimum: 1, description: 'Counts the events about this video.' }),
    }),
    sample: {
      videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
      title: 'Opening night',
      status: 'READY',
      durationSec: 1834.5,
      width: 1920,
      height: 1080,
      renditions: ['1080p', '720p', '480p'],
      playbackUrl: 'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/master.m3u8',
      thumbnailUrl: null,
      externalId: null,
      completedAt: '2026-11-20T09:00:00.000Z',
      sequence: 5,
    },
  }),
];
