import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';

export const uploadExpired = defineEvent({
  type: 'upload.expired',
  description:
    'An upload expired because no data was received for seven days. Its video failed, or is unchanged if the file was a replacement.',
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

/** Event definitions of uploads; everything else is covered by the events of the video. */
export const uploadEvents: EventDefinition[] = [uploadExpired];
