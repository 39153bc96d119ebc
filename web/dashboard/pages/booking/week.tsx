import { Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { AvailabilityFields } from './availability-fields.ts';
import { DAYS, type Day, NEW_WINDOW } from './availability-values.ts';

const MAX_WINDOWS = 48;
const WORKDAYS = ['tue', 'wed', 'thu', 'fri'] as const;

/** The windows of each day. */
export function Week({ form }: { form: AvailabilityFields }) {
  const { t } = useTranslation('booking');
  const { weeklyJson } = form.getValues();
  const copyMonday = () => {
    for (const day of WORKDAYS) form.setFieldValue(`weeklyJson.${day}`, structuredClone(weeklyJson.mon));
  };
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {t('week.hint')}
      </Text>
      {DAYS.map((day) => (
        <DayFields key={day} form={form} day={day} />
      ))}
      {weeklyJson.mon.length > 0 && (
        <div>
          <Button variant="default" onClick={copyMonday}>
            {t('week.copy')}
          </Button>
        </div>
      )}
    </Stack>
  );
}

function DayFields({ form, day }: { form: AvailabilityFields; day: Day }) {
  const { t } = useTranslation('booking');
  const windows = form.getValues().weeklyJson[day];
  const path = `weeklyJson.${day}`;
  const name = t(`day.${day}`);
  return (
    <Paper withBorder p="sm" role="group" aria-label={name}>
      <Group justify="space-between">
        <Text fw={500}>{name}</Text>
        {windows.length === 0 && <Text c="dimmed">{t('week.none')}</Text>}
        {windows.length < MAX_WINDOWS && (
          <Button
            variant="default"
            aria-label={t('week.addTo', { day: name })}
            onClick={() => form.insertListItem(path, NEW_WINDOW)}
          >
            {t('week.add')}
          </Button>
        )}
      </Group>
      {windows.map((_, index) => (
        <Group
          // biome-ignore lint/suspicious/noArrayIndexKey: a window has no other name.
          key={index}
          align="flex-end"
          mt="xs"
        >
          <TextInput {...form.getInputProps(`${path}.${index}.start`)} type="time" label={t('week.from')} />
          <TextInput {...form.getInputProps(`${path}.${index}.end`)} type="time" label={t('week.until')} />
          <Button
            variant="default"
            aria-label={t('week.removeOf', { number: index + 1, day: name })}
            onClick={() => form.removeListItem(path, index)}
          >
            {t('remove')}
          </Button>
        </Group>
      ))}
    </Paper>
  );
}
