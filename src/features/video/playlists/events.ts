import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';

const data = namedSchema(
  'PlaylistEventData',
  Type.Object({
    playlistId: Type.String(),
    title: Type.String(),
    itemCount: Type.Integer(),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this playlist.' }),
  }),
);
const sample = { playlistId: 'pls_01kafe3n4pfx2v9yq6m8d7t5zr', title: 'The best of 2026', itemCount: 0 };

export const playlistCreated = defineEvent({
  type: 'playlist.created',
  description: 'A playlist was created.',
  data,
  sample: { ...sample, sequence: 1 },
});

export const playlistUpdated = defineEvent({
  type: 'playlist.updated',
  description: 'A playlist, its items or their order changed.',
  data,
  sample: { ...sample, itemCount: 12, sequence: 2 },
});

export const playlistDeleted = defineEvent({
  type: 'playlist.deleted',
  description: 'A playlist was deleted; its videos are unchanged.',
  data,
  sample: { ...sample, itemCount: 12, sequence: 3 },
});

export const playlistEvents: EventDefinition[] = [playlistCreated, playlistUpdated, playlistDeleted];
