import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../../http/named-schema.ts';
import { IdOf, Nullable, NullableObject, OneOf, Problem } from '../../../../http/schema.ts';
import type { VideoDetails } from '../repository.ts';

const OPEN_OR_FAILED = ['UPLOADING', 'QUEUED', 'PROCESSING', 'FAILED'] as const;

export const Replacement = namedSchema(
  'VideoReplacement',
  Type.Object(
    {
      status: OneOf(OPEN_OR_FAILED),
      uploadId: Nullable(IdOf('upl')),
      importId: Nullable(IdOf('imp', 'Null if the file is uploaded.')),
      progressPercent: Type.Number({ minimum: 0, maximum: 100, description: 'Processing progress.' }),
      error: NullableObject(Problem),
    },
    { description: "The pending replacement of the video's file, or the reason it failed." },
  ),
  {
    status: 'PROCESSING',
    uploadId: 'upl_01kafe3n4pfx2v9yq6m8d7t5zr',
    importId: null,
    progressPercent: 42,
    error: null,
  },
);

/**
 * Returns the open or failed replacement; null when there is none left, because it is done or was canceled.
 */
export function toReplacement(
  row: NonNullable<VideoDetails['replacement']>,
): Static<typeof Replacement> | null {
  const status = OPEN_OR_FAILED.find((one) => one === row.status);
  if (status === undefined) return null;
  const { upload_id: uploadId, import_id: importId, progress_percent: progressPercent } = row;
  const { error_code: code, error_message } = row;
  const error = code === null ? null : { code, message: error_message ?? '' };
  return { status, uploadId, importId, progressPercent, error };
}
