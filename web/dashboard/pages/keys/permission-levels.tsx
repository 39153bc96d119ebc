import { Group, NativeSelect, Paper, Stack, Text } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { type Levels, PERMISSION_RESOURCES } from './permissions.ts';

interface Props {
  levels: Levels;
  error: ReactNode;
  /** Whether the key has the scope READ_ONLY, which allows no writes. */
  isReadOnly: boolean;
  onChange: (levels: Levels) => void;
}

/** Selects the access to each part of the API: none, read, or write. */
export function PermissionLevels({ levels, error, isReadOnly, onChange }: Props) {
  const { t } = useTranslation('keys');
  const id = useId();
  const choices = isReadOnly ? (['none', 'read'] as const) : (['none', 'read', 'write'] as const);
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('form.contentReads')}
        </Text>
        {PERMISSION_RESOURCES.map((noun) => (
          <Group key={noun} justify="space-between" gap="xs">
            <Stack gap={0} flex="1 1 14rem">
              <Text component="label" htmlFor={`${id}-${noun}`} fw={500}>
                {t(`noun.${noun}`)}
              </Text>
              <Text size="sm" c="dimmed" id={`${id}-${noun}-hint`}>
                {t(`nounHint.${noun}`)}
              </Text>
            </Stack>
            <NativeSelect
              id={`${id}-${noun}`}
              aria-describedby={`${id}-${noun}-hint`}
              size="md"
              value={isReadOnly && levels[noun] === 'write' ? 'read' : levels[noun]}
              data={choices.map((value) => ({ value, label: t(`level.${value}`) }))}
              onChange={({ currentTarget: { value } }) =>
                onChange({ ...levels, [noun]: choices.find((choice) => choice === value) ?? 'none' })
              }
            />
          </Group>
        ))}
        <div role="alert">{error !== undefined && <Text c="var(--mantine-color-error)">{error}</Text>}</div>
      </Stack>
    </Paper>
  );
}
