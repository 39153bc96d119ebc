import { Button, NativeSelect, Paper, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { AvailabilityFields } from './availability-fields.ts';
import { NEW_TIME_OFF } from './availability-values.ts';

const MAX_BLACKOUTS = 500;

/** Days and hours in which the creator has no time, whatever day of the week it is. */
export function Blackouts({ form }: { form: AvailabilityFields }) {
  const { t } = useTranslation('booking');
  const { blackoutsJson } = form.getValues();
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {t('away.hint')}
      </Text>
      {blackoutsJson.map(({ kind }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: it has no other name.
        <AwayFields key={index} form={form} index={index} isDays={kind === 'days'} />
      ))}
      {blackoutsJson.length < MAX_BLACKOUTS && (
        <div>
          <Button variant="default" onClick={() => form.insertListItem('blackoutsJson', NEW_TIME_OFF)}>
            {t('away.add')}
          </Button>
        </div>
      )}
    </Stack>
  );
}

function AwayFields({ form, index, isDays }: { form: AvailabilityFields; index: number; isDays: boolean }) {
  const { t } = useTranslation('booking');
  const at = `blackoutsJson.${index}`;
  const type = isDays ? 'date' : 'datetime-local';
  const choose = (kind: string) => {
    const { reason } = form.getValues().blackoutsJson[index] ?? NEW_TIME_OFF;
    form.setFieldValue(at, { ...NEW_TIME_OFF, kind: kind === 'days' ? 'days' : 'times', reason });
  };
  return (
    <Paper withBorder p="sm" role="group" aria-label={t('away.one', { number: index + 1 })}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
          <NativeSelect
            size="md"
            label={t('away.kind')}
            value={isDays ? 'days' : 'times'}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
            data={(['days', 'times'] as const).map((value) => ({ value, label: t(`awayKind.${value}`) }))}
          />
          <TextInput {...form.getInputProps(`${at}.start`)} type={type} label={t('away.from')} required />
          <TextInput
            {...form.getInputProps(`${at}.end`)}
            type={type}
            label={isDays ? t('away.lastDay') : t('away.until')}
            required
          />
          <TextInput
            {...form.getInputProps(`${at}.reason`)}
            label={t('away.reason')}
            maxLength={200}
            dir="auto"
          />
        </SimpleGrid>
        <div>
          <Button
            variant="default"
            aria-label={t('away.removeOne', { number: index + 1 })}
            onClick={() => form.removeListItem('blackoutsJson', index)}
          >
            {t('remove')}
          </Button>
        </div>
      </Stack>
    </Paper>
  );
}
