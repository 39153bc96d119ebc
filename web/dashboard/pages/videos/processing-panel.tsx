import { Alert, Code, Group, List, Progress, Stack, Table, Text } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { type DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { useFormat } from '../../components/format.ts';
import { WarningIcon } from '../../components/icons.tsx';
import { Panel } from '../../components/panel.tsx';
import { ImportState } from './import-state.tsx';

type Props = { video: Shape<'Video'> };

/** The codes of docs/guides/processing.md#failures. */
export const KNOWN_ERRORS = [
  'UNSUPPORTED_FORMAT',
  'CORRUPT_INPUT',
  'NO_VIDEO_TRACK',
  'DURATION_EXCEEDED',
  'SIZE_EXCEEDED',
  'UPLOAD_EXPIRED',
  'CHECKSUM_MISMATCH',
  'SOURCE_UNREACHABLE',
  'INTERNAL',
] as const;

/** Channels of 5.1. */
const SURROUND = 6;

/** Failures after which there is no valid original to process again. */
const WITHOUT_ORIGINAL: readonly string[] = ['UPLOAD_EXPIRED', 'CHECKSUM_MISMATCH'];

/** Shows the processing of a video: its progress, and the playable renditions. */
export function ProcessingPanel({ video }: Props) {
  const { t } = useTranslation('videos');
  const { percent } = useFormat();
  const id = useId();
  const { status, progressPercent, importId } = video;
  return (
    <Panel title={t('processing.title')}>
      <Text role="status" id={id}>
        {t(`means.${status}`)}
      </Text>
      {status === 'PROCESSING' && (
        <Group wrap="nowrap">
          <Progress.Root size="lg" flex={1}>
            <Progress.Section value={progressPercent} aria-labelledby={id} />
          </Progress.Root>
          <Text size="sm">{percent(progressPercent / 100)}</Text>
        </Group>
      )}
      {importId !== null && status !== 'READY' && <ImportState importId={importId} />}
      {status === 'FAILED' && <Failure video={video} />}
      <Notes video={video} />
      <Rungs video={video} />
      <SourceFacts video={video} />
    </Panel>
  );
}

function Failure({ video: { id, error } }: Props) {
  const { t } = useTranslation('videos');
  const retry = $api.useMutation('post', '/videos/{id}/retry', {
    onSuccess: () => queries.invalidateQueries({ queryKey: ['get', '/videos/{id}'] }),
  });
  if (error === null) return null;
  const known = KNOWN_ERRORS.find((code) => code === error.code);
  return (
    <Alert
      color="red"
      icon={<WarningIcon />}
      title={known === undefined ? t('processing.failed') : t(`error.${known}.means`)}
    >
      <Stack align="flex-start" gap="xs">
        {known !== undefined && <Text size="sm">{t(`error.${known}.remedy`)}</Text>}
        <Text size="sm" className="breaks">
          <Code>{error.code}</Code> {error.message}
        </Text>
        {!WITHOUT_ORIGINAL.includes(error.code) && (
          <EditButton
            variant="default"
            loading={retry.isPending}
            onClick={() => retry.mutate({ params: { path: { id } } })}
          >
            {t('processing.retry')}
          </EditButton>
        )}
      </Stack>
    </Alert>
  );
}

/** Lists the parts of the file that the processed video lacks. */
function Notes({ video: { processing } }: Props) {
  const { t } = useTranslation('videos');
  const id = useId();
  const { notes } = processing;
  if (notes.length === 0) return null;
  return (
    <Stack gap="xs">
      <Text fw={600} id={id}>
        {t('processing.notes')}
      </Text>
      <List size="sm" aria-labelledby={id}>
        {notes.map(({ code, message }) => (
          <List.Item key={message} className="breaks">
            <b>{t(`note.${code}`)}</b> <bdi lang="en">{message}</bdi>
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

/** Lists the renditions, highest first: which are playable, and the progress of the others. */
function Rungs({ video: { renditions, pendingRenditions } }: Props) {
  const { t } = useTranslation('videos');
  const { number, percent } = useFormat();
  const id = useId();
  const all = [...renditions, ...pendingRenditions].sort((a, b) => b.height - a.height || b.width - a.width);
  if (all.length === 0) return null;
  return (
    <Table aria-label={t('processing.rungs')}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('processing.rung')}</Table.Th>
          <Table.Th>{t('processing.size')}</Table.Th>
          <Table.Th visibleFrom="xs">{t('processing.bitrate')}</Table.Th>
          <Table.Th>{t('column.status')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {all.map((rung) => (
          <Table.Tr key={rung.name}>
            <Table.Td id={`${id}${rung.name}`}>{rung.name}</Table.Td>
            <Table.Td>{`${rung.width} × ${rung.height}`}</Table.Td>
            <Table.Td visibleFrom="xs">
              {'bitrate' in rung
                ? t('processing.kbps', { rate: number(Math.round(rung.bitrate / 1000)) })
                : '–'}
            </Table.Td>
            <Table.Td>
              {'progressPercent' in rung ? (
                <Group gap="xs" wrap="nowrap">
                  <Progress.Root flex={1} miw={40}>
                    <Progress.Section value={rung.progressPercent} aria-labelledby={`${id}${rung.name}`} />
                  </Progress.Root>
                  <Text size="sm">{percent(rung.progressPercent / 100)}</Text>
                </Group>
              ) : (
                t('processing.playable')
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function SourceFacts({ video }: Props) {
  const { t } = useTranslation('videos');
  const { bytes, duration, number, dateTime } = useFormat();
  const { durationSec, width, height, frameRate, sizeBytes, audioTracks, viewCount, createdAt } = video;
  const sounds = audioTracks.map(({ label, channels }) => (channels === SURROUND ? `${label} (5.1)` : label));
  const facts: DescriptionItem[] = [
    { label: t('column.created'), value: dateTime(createdAt) },
    { label: t('facts.source'), value: t(`source.${video.source}`) },
    { label: t('facts.views'), value: number(viewCount) },
    ...(durationSec === null ? [] : [{ label: t('column.duration'), value: duration(durationSec) }]),
    ...(width === null || height === null
      ? []
      : [{ label: t('facts.original'), value: `${width} × ${height}` }]),
    ...(frameRate === null ? [] : [{ label: t('facts.frames'), value: number(frameRate) }]),
    ...(sounds.length === 0 ? [] : [{ label: t('facts.sound'), value: sounds.join(', ') }]),
    ...(sizeBytes === null ? [] : [{ label: t('facts.file'), value: bytes(sizeBytes) }]),
  ];
  return <DescriptionList facts={facts} />;
}
