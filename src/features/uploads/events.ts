import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../events/catalogue.ts';

export const uploadExpired = defineEvent({
  type: 'upload.expired',
  description:
    'An upload got no bytes for seven days and was given up; its video has failed, or stays as it is where the file was to replace another.',
  data: Type.Object({
    uploadId: Type.String(),
    videoId: Type.String(),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this upload.' }),
  }),
  sample: {
    uploadId: 'upl_01kafe3n4pfx2v9yq6m8d7t5zr',
    videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    sequence: 1,
  },
});

/** What else happens to an upload is told by the events of its video. */
export const uploadEvents: EventDefinition[] = [uploadExpired];
