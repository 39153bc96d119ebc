import { Button, NativeSelect, NumberInput, Paper, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { FormActions } from '../../components/form-actions.tsx';
import { TIME_ZONE } from '../../components/format.ts';
import { instantOf, localTime } from '../../components/local-time.ts';
import type { MoneyInputValue } from '../../components/money-input.tsx';
import { Panel } from '../../components/panel.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { zonesWith } from '../../components/time-zones.ts';

type Cohort = Shape<'Cohort'>;

const MAX_CAPACITY = 1_000_000;
const MAX_SESSIONS = 200;

/** Session in the form; a new one has no ID. */
interface Session {
  id: string;
  startsAt: string;
  endsAt: string;
}

const NEW_SESSION: Session = { id: '', startsAt: '', endsAt: '' };

function valuesOf(cohort: Cohort | null) {
  const capacity: MoneyInputValue = cohort?.capacity ?? '';
  return {
    title: cohort?.title ?? '',
    startsAt: localTime(cohort?.startsAt ?? null),
    endsAt: localTime(cohort?.endsAt ?? null),
    timezone: cohort?.timezone ?? TIME_ZONE,
    capacity,
    enrollmentOpensAt: localTime(cohort?.enrollmentOpensAt ?? null),
    enrollmentClosesAt: localTime(cohort?.enrollmentClosesAt ?? null),
    sessions: (cohort?.sessions ?? []).map(
      ({ id, startsAt, endsAt }): Session => ({
        id,
        startsAt: localTime(startsAt),
        endsAt: localTime(endsAt),
      }),
    ),
  };
}

type Values = ReturnType<typeof valuesOf>;

function bodyOf(values: Values): Shape<'CohortCreate'> {
  const { title, capacity, timezone } = values;
  return {
    timezone,
    title: title.trim() === '' ? null : title,
    startsAt: instantOf(values.startsAt) ?? '',
    endsAt: instantOf(values.endsAt),
    capacity: capacity === '' ? null : Number(capacity),
    enrollmentOpensAt: instantOf(values.enrollmentOpensAt),
    enrollmentClosesAt: instantOf(values.enrollmentClosesAt),
    sessions: values.sessions.map(({ id, startsAt, endsAt }) => ({
      ...(id === '' ? {} : { id }),
      startsAt: instantOf(startsAt) ?? '',
      endsAt: instantOf(endsAt) ?? '',
    })),
  };
}

/** The API also stores seconds, so an unchanged time is not sent. */
function changesOf(values: Values, initial: Values): Shape<'CohortUpdate'> {
  const before: Record<string, unknown> = initial;
  const body = Object.entries(bodyOf(values));
  const now: Record<string, unknown> = values;
  return Object.fromEntries(
    body.filter(([name]) => JSON.stringify(now[name]) !== JSON.stringify(before[name])),
  );
}

function useCohortForm(cohort: Cohort | null) {
  return useForm({ initialValues: valuesOf(cohort) });
}

type Form = ReturnType<typeof useCohortForm>;

interface Props {
  /** Null: a new one. */
  cohort: Cohort | null;
  productId: string;
  onCancel?: () => void;
  onSaved: (cohort: Cohort) => void;
}

/** Creates or edits a cohort. */
export function CohortForm({ cohort, productId, onCancel, onSaved }: Props) {
  const { t } = useTranslation('booking');
  const form = useCohortForm(cohort);
  useUnsaved(form);
  const options = {
    meta: { errors: 'form' } as const,
    onError: formErrors(form),
    onSuccess: async ({ data }: { data: Cohort }) => {
      form.resetDirty();
      showSuccess(t('cohort.saved'));
      void queries.invalidateQueries({ queryKey: ['get', '/booking/products/{productId}/cohorts'] });
      await queries.invalidateQueries({ queryKey: ['get', '/booking/cohorts/{cohortId}'] });
      onSaved(data);
    },
  };
  const create = $api.useMutation('post', '/booking/products/{productId}/cohorts', options);
  const update = $api.useMutation('patch', '/booking/cohorts/{cohortId}', options);
  const submit = (values: Values) => {
    if (cohort === null) return create.mutate({ params: { path: { productId } }, body: bodyOf(values) });
    const body = changesOf(values, valuesOf(cohort));
    update.mutate({ params: { path: { cohortId: cohort.id } }, body });
  };
  return (
    <Panel title={cohort === null ? t('cohort.new') : t('cohort.settings')}>
      <form noValidate onSubmit={form.onSubmit(submit)}>
        <Stack>
          <AboutFields form={form} />
          <EnrolmentFields form={form} />
          <Sessions form={form} />
          <TimeZoneNote />
          <FormActions
            submit={cohort === null ? t('cohort.create') : t('cohort.save')}
            isPending={create.isPending || update.isPending}
            {...(onCancel === undefined ? {} : { onCancel })}
          />
        </Stack>
      </form>
    </Panel>
  );
}

function AboutFields({ form }: { form: Form }) {
  const { t } = useTranslation('booking');
  return (
    <>
      <TextInput
        {...form.getInputProps('title')}
        label={t('cohort.title')}
        description={t('cohort.titleHint')}
        maxLength={200}
        dir="auto"
      />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput
          {...form.getInputProps('startsAt')}
          type="datetime-local"
          label={t('cohort.startsAt')}
          required
        />
        <TextInput
          {...form.getInputProps('endsAt')}
          type="datetime-local"
          label={t('cohort.endsAt')}
          description={t('cohort.endsHint')}
        />
        <NativeSelect
          {...form.getInputProps('timezone')}
          size="md"
          label={t('cohort.timezone')}
          description={t('cohort.timezoneHint')}
          data={zonesWith(form.getValues().timezone)}
        />
      </SimpleGrid>
    </>
  );
}

function EnrolmentFields({ form }: { form: Form }) {
  const { t } = useTranslation('booking');
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <NumberInput
        {...form.getInputProps('capacity')}
        size="md"
        label={t('cohort.capacity')}
        description={t('cohort.capacityHint')}
        min={1}
        max={MAX_CAPACITY}
        allowDecimal={false}
        allowNegative={false}
        hideControls
      />
      <TextInput
        {...form.getInputProps('enrollmentOpensAt')}
        type="datetime-local"
        label={t('cohort.opensAt')}
        description={t('cohort.opensHint')}
      />
      <TextInput
        {...form.getInputProps('enrollmentClosesAt')}
        type="datetime-local"
        label={t('cohort.closesAt')}
        description={t('cohort.closesHint')}
      />
    </SimpleGrid>
  );
}

function Sessions({ form }: { form: Form }) {
  const { t } = useTranslation('booking');
  const { sessions } = form.getValues();
  return (
    <Stack gap="sm">
      <div>
        <Text fw={500}>{t('session.all')}</Text>
        <Text size="sm" c="dimmed">
          {t('session.hint')}
        </Text>
      </div>
      {sessions.map((_, index) => (
        <Paper
          // biome-ignore lint/suspicious/noArrayIndexKey: a new one has no other name.
          key={index}
          withBorder
          p="sm"
          role="group"
          aria-label={t('session.one', { number: index + 1 })}
        >
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            <TextInput
              {...form.getInputProps(`sessions.${index}.startsAt`)}
              type="datetime-local"
              label={t('session.startsAt')}
              required
            />
            <TextInput
              {...form.getInputProps(`sessions.${index}.endsAt`)}
              type="datetime-local"
              label={t('session.endsAt')}
              required
            />
            <Button
              variant="default"
              mt="lg"
              aria-label={t('session.remove', { number: index + 1 })}
              onClick={() => form.removeListItem('sessions', index)}
            >
              {t('remove')}
            </Button>
          </SimpleGrid>
        </Paper>
      ))}
      {sessions.length < MAX_SESSIONS && (
        <div>
          <Button variant="default" onClick={() => form.insertListItem('sessions', NEW_SESSION)}>
            {t('session.add')}
          </Button>
        </div>
      )}
    </Stack>
  );
}
