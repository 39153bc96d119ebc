import { Group, NativeSelect, NumberInput, SimpleGrid, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { zonesWith } from '../../components/time-zones.ts';
import { useAvailabilityForm } from './availability-fields.ts';
import { bodyOf, type Values } from './availability-values.ts';
import { Blackouts } from './blackouts.tsx';
import { BookingPage } from './booking-page.tsx';
import { ExternalCalendars } from './external-calendars.tsx';
import { Week } from './week.tsx';

const MAX_NOTICE_MIN = 5_256_000;
const MAX_ADVANCE_DAYS = 3650;

/** Edits the creator's availability: weekly hours, time off, notice and horizon. */
export function AvailabilityPage() {
  const query = $api.useQuery('get', '/booking/availability');
  return (
    <BookingPage name="availability">
      <Loaded query={query}>
        {({ data }) => <AvailabilityForm key={data.updatedAt} availability={data} />}
      </Loaded>
      <ExternalCalendars />
    </BookingPage>
  );
}

function AvailabilityForm({ availability }: { availability: Shape<'BookingAvailability'> }) {
  const { t } = useTranslation('booking');
  const form = useAvailabilityForm(availability);
  useUnsaved(form);
  const save = $api.useMutation('put', '/booking/availability', {
    meta: { errors: 'form' },
    onError: formErrors(form),
    onSuccess: () => {
      form.resetDirty();
      showSuccess(t('availability.saved'));
      void queries.invalidateQueries({ queryKey: ['get', '/booking/products/{id}/slots'] });
      return queries.invalidateQueries({ queryKey: ['get', '/booking/availability'] });
    },
  });
  return (
    <form noValidate onSubmit={form.onSubmit((values: Values) => save.mutate({ body: bodyOf(values) }))}>
      <Stack>
        <Panel title={t('week.title')}>
          <NativeSelect
            {...form.getInputProps('timezone')}
            label={t('availability.timezone')}
            description={t('availability.timezoneHint')}
            size="md"
            data={zonesWith(form.getValues().timezone)}
          />
          <Week form={form} />
        </Panel>
        <Panel title={t('away.title')}>
          <Blackouts form={form} />
          <TimeZoneNote />
        </Panel>
        <Panel title={t('availability.limits')}>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <NumberInput
              {...form.getInputProps('minNoticeMin')}
              {...WHOLE}
              label={t('availability.notice')}
              description={t('availability.noticeHint')}
              max={MAX_NOTICE_MIN}
            />
            <NumberInput
              {...form.getInputProps('maxAdvanceDays')}
              {...WHOLE}
              label={t('availability.advance')}
              description={t('availability.advanceHint')}
              max={MAX_ADVANCE_DAYS}
            />
          </SimpleGrid>
        </Panel>
        <Group justify="flex-end">
          <EditButton type="submit" loading={save.isPending}>
            {t('availability.save')}
          </EditButton>
        </Group>
      </Stack>
    </form>
  );
}

const WHOLE = {
  size: 'md',
  min: 0,
  allowDecimal: false,
  allowNegative: false,
  hideControls: true,
  required: true,
} as const;
