import { Group, Progress, Stack, Text } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from './format.ts';

interface Props {
  label: string;
  used: number;
  /** Null: without a limit. */
  limit: number | null;
  /** Formats a value; as a number by default. */
  format?: (value: number) => string;
  /** Time of the next reset. */
  note?: ReactNode;
}

const NEARLY = 0.8;

/** Shows how much of a limit is used, as text and as a bar. */
export function Meter({ label, used, limit, format, note }: Props) {
  const { t } = useTranslation();
  const formats = useFormat();
  const id = useId();
  const write = format ?? formats.number;
  const share = limit === null || limit === 0 ? 0 : Math.min(1, used / limit);
  return (
    <Stack gap={6}>
      <Group justify="space-between">
        <Text fw={500} id={id}>
          {label}
        </Text>
        <Text size="sm">
          {limit === null
            ? t('meter.unlimited', { used: write(used) })
            : t('meter.of', { used: write(used), limit: write(limit) })}
        </Text>
      </Group>
      {limit !== null && (
        <Progress.Root size="lg">
          <Progress.Section
            value={share * 100}
            color={share >= 1 ? 'red' : share >= NEARLY ? 'orange' : 'marquee'}
            aria-labelledby={id}
          />
        </Progress.Root>
      )}
      {note !== undefined && (
        <Text size="sm" c="dimmed" component="div">
          {note}
        </Text>
      )}
    </Stack>
  );
}
