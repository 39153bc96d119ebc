import { Alert, Code, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { type DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { useFormat } from '../../components/format.ts';
import { WarningIcon } from '../../components/icons.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';

/** Health codes of docs/guides/streams.md#health that this page explains. */
const KNOWN_ISSUES = [
  'KEYFRAME_INTERVAL',
  'RESOLUTION_CAPPED',
  'FRAME_RATE_CAPPED',
  'CODEC_TRANSCODED',
  'CODEC_NOT_EVERYWHERE',
  'NO_KEYFRAMES',
  'OPEN_GOP',
  'UNSUPPORTED_CODEC',
  'RESOLUTION_CHANGED',
  'BITRATE_OVER_PLAN',
  'ENCODERS_OVER_PLAN',
  'NO_TRANSCODE_CAPACITY',
  'PACKAGER_FAILED',
  'RECORDING_FAILED',
  'DISK_FULL',
  'BITRATE_LOW',
  'BITRATE_UNSTABLE',
  'FRAMES_DROPPED',
  'TIMESTAMP_JUMP',
  'AV_DRIFT',
  'AUDIO_STOPPED',
  'VIDEO_STOPPED',
  'INTERLACED',
  'B_FRAMES',
  'TRANSCODE_LAG',
  'NO_MEASUREMENT',
] as const;

const LONG_KEYFRAME_SEC = 4;

/** Codec names by the first part of the RFC 6381 codec string (`avc1.64001f`). */
const CODECS: Record<string, string> = {
  avc1: 'H.264',
  avc3: 'H.264',
  hvc1: 'HEVC (H.265)',
  hev1: 'HEVC (H.265)',
  av01: 'AV1',
  vp09: 'VP9',
};

function codecName(codec: string): string {
  const [family = ''] = codec.split('.');
  return CODECS[family] ?? codec;
}

/** Shows the encoder's signal, and its issues with their remedies. */
export function SignalPanel({ stream }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  const { health, hasSignal, lastSignalAt } = stream;
  return (
    <Panel title={t('signal.title')}>
      <Text role="status" className="hidden-words">
        {hasSignal ? t('signal.here') : t('signal.gone')}
      </Text>
      {hasSignal && health !== null ? (
        <HealthFacts health={health} latencyMode={stream.latencyMode} />
      ) : (
        <Text c="dimmed">
          {hasSignal ? t('signal.measuring') : t('signal.gone')}{' '}
          {!hasSignal && lastSignalAt !== null && (
            <>
              {t('signal.last')} <RelativeTime at={lastSignalAt} />
            </>
          )}
        </Text>
      )}
      <Issues issues={health?.issues ?? []} isGood={hasSignal && health !== null} />
    </Panel>
  );
}

type Measured = { health: Shape<'StreamHealth'>; latencyMode: Shape<'Stream'>['latencyMode'] };

function HealthFacts({ health, latencyMode }: Measured) {
  const { t } = useTranslation('live');
  const { number } = useFormat();
  const { keyframeIntervalSec, droppedFrames, lateFrames } = health;
  const usual = latencyMode === 'LOW' ? t('signal.delayLow') : t('signal.delayStandard');
  // A player starts at a keyframe, and catches up from there.
  const isLong = keyframeIntervalSec !== null && keyframeIntervalSec > LONG_KEYFRAME_SEC;
  const facts: DescriptionItem[] = [
    { label: t('signal.codec'), value: codecName(health.codec) },
    { label: t('signal.size'), value: `${health.width} × ${health.height}` },
    { label: t('signal.fps'), value: number(health.fps) },
    { label: t('signal.bitrate'), value: t('signal.kbps', { rate: number(Math.round(health.bitrateKbps)) }) },
    {
      label: t('signal.keyframes'),
      value: keyframeIntervalSec === null ? '–' : t('signal.every', { seconds: number(keyframeIntervalSec) }),
    },
    {
      label: t('signal.delay'),
      value: `${usual}${isLong ? t('signal.delayMore', { seconds: number(keyframeIntervalSec) }) : ''}`,
    },
    { label: t('signal.dropped'), value: number(droppedFrames) },
    { label: t('signal.late'), value: number(lateFrames) },
  ];
  return <DescriptionList facts={facts} />;
}

function Issues({ issues, isGood }: { issues: string[]; isGood: boolean }) {
  const { t } = useTranslation('live');
  return (
    <Stack gap="xs" aria-live="polite">
      {issues.length === 0 && isGood && <Text>{t('signal.good')}</Text>}
      {issues.map((code) => (
        <Issue key={code} code={code} />
      ))}
    </Stack>
  );
}

function Issue({ code }: { code: string }) {
  const { t } = useTranslation('live');
  const known = KNOWN_ISSUES.find((word) => word === code);
  return (
    <Alert
      color="orange"
      icon={<WarningIcon />}
      title={known === undefined ? t('signal.unknown') : t(`issue.${known}.means`)}
    >
      {known !== undefined && <Text size="sm">{t(`issue.${known}.remedy`)}</Text>}
      <Code>{code}</Code>
    </Alert>
  );
}
