import Type from 'typebox';
import { defineEvent } from '../../events/catalogue.ts';

const data = Type.Object({
  playlistId: Type.String(),
  title: Type.String(),
  itemCount: Type.Integer(),
  sequence: Type.Integer({ minimum: 1, description: 'Counts the events about this playlist.' }),
});
const sample = { playlistId: 'pls_01kafe3n4pfx2v9yq6m8d7t5zr', title: 'The best of 2026', itemCount: 0 };

/** `api.md` C9. */
export const playlistEvents = [
  defineEvent({
    type: 'playlist.created',
    description: 'A playlist was created.',
    data,
    sample: { ...sample, sequence: 1 },
  }),
  defineEvent({
    type: 'playlist.updated',
    description: 'A playlist, its items or their order were changed.',
    data,
    sample: { ...sample, itemCount: 12, sequence: 2 },
  }),
  defineEvent({
    type: 'playlist.deleted',
    description: 'A playlist was deleted; its videos were not.',
    data,
    sample: { ...sample, itemCount: 12, sequence: 3 },
  }),
];
