import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { useFormat } from '../../components/format.ts';

const COLORS: Record<Shape<'VideoStatus'>, string> = {
  UPLOADING: 'blue',
  QUEUED: 'blue',
  PROCESSING: 'blue',
  READY: 'green',
  FAILED: 'red',
};

/** Shows the status of a video with its progress. */
export function StatusBadge({ video }: { video: Pick<Shape<'Video'>, 'status' | 'progressPercent'> }) {
  const { t } = useTranslation('videos');
  const { percent } = useFormat();
  const { status, progressPercent } = video;
  return (
    <Badge className="whole" color={COLORS[status]} variant="light">
      {t(`status.${status}`)} {status === 'PROCESSING' && percent(progressPercent / 100)}
    </Badge>
  );
}

/** Reports whether the status changes without user action, so that it should be polled. */
export function isInProgress({
  status,
  replacement,
}: Pick<Shape<'Video'>, 'status' | 'replacement'>): boolean {
  return isProcessing(status) || (replacement !== null && isProcessing(replacement.status));
}

/** Reports whether a video, or the file that is to replace its own, is being processed. */
export function isProcessing(status: Shape<'VideoStatus'>): boolean {
  return status === 'UPLOADING' || status === 'QUEUED' || status === 'PROCESSING';
}
