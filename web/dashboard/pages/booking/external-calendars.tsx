import { Alert, Badge, Group, Paper, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';

type Calendar = Shape<'ExternalCalendar'>;

const REFRESH_MS = 10_000;
const COLORS: Record<Calendar['status'], string> = { PENDING: 'yellow', OK: 'green', FAILED: 'red' };

const refresh = () => queries.invalidateQueries({ queryKey: ['get', '/booking/calendars'] });

/** Lists external calendars whose events block bookable time, with their read errors. */
export function ExternalCalendars() {
  const { t } = useTranslation('booking');
  const calendars = $api.useInfiniteQuery('get', '/booking/calendars', {}, pollEvery(REFRESH_MS));
  return (
    <Panel title={t('calendars.title')}>
      <Stack>
        <Text size="sm" c="dimmed">
          {t('calendars.hint')}
        </Text>
        <CursorList query={calendars} empty={<Text size="sm">{t('calendars.empty')}</Text>}>
          {(rows) => (
            <Stack>
              {rows.map((calendar) => (
                <CalendarCard key={calendar.id} calendar={calendar} />
              ))}
            </Stack>
          )}
        </CursorList>
        <AddForm />
      </Stack>
    </Panel>
  );
}

function CalendarCard({ calendar }: { calendar: Calendar }) {
  const { t } = useTranslation('booking');
  const { id, name, host, status, lastError, eventCount, readAt } = calendar;
  const title = name ?? host;
  const remove = $api.useMutation('delete', '/booking/calendars/{id}', { onSuccess: refresh });
  return (
    <Paper withBorder p="sm" component="article" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs" miw={0}>
            <Text fw={600} className="breaks" component="bdi">
              {title}
            </Text>
            <Badge color={COLORS[status]} variant="light">
              {t(`calendarStatus.${status}`)}
            </Badge>
          </Group>
          <ConfirmAction
            label={t('calendars.delete')}
            title={t('calendars.deleteTitle', { name: title })}
            text={t('calendars.deleteText')}
            onConfirm={() => remove.mutateAsync({ params: { path: { id } } })}
            isPending={remove.isPending}
          />
        </Group>
        {readAt !== null && (
          <Text size="sm" c="dimmed">
            {t('calendars.events', { count: eventCount })} · {t('calendars.read')}{' '}
            <RelativeTime at={readAt} />
          </Text>
        )}
        {lastError !== null && <Alert color={status === 'FAILED' ? 'red' : 'yellow'}>{lastError}</Alert>}
      </Stack>
    </Paper>
  );
}

function AddForm() {
  const { t } = useTranslation('booking');
  const form = useForm({
    initialValues: { url: '', name: '' },
    validate: { url: (url) => (url.trim() === '' ? t('calendars.urlMissing') : null) },
  });
  useUnsaved(form);
  const add = $api.useMutation('post', '/booking/calendars', {
    meta: { errors: 'form' },
    onSuccess: () => {
      form.reset();
      return refresh();
    },
    onError: formErrors(form),
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ url, name }) =>
        add.mutate({ body: { url: url.trim(), name: name.trim() === '' ? null : name.trim() } }),
      )}
    >
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            {...form.getInputProps('url')}
            label={t('calendars.url')}
            description={t('calendars.urlHint')}
            size="md"
            dir="ltr"
            required
          />
          <TextInput
            {...form.getInputProps('name')}
            label={t('calendars.name')}
            description={t('calendars.nameHint')}
            size="md"
            maxLength={100}
            dir="auto"
          />
        </SimpleGrid>
        <Group>
          <EditButton type="submit" loading={add.isPending}>
            {t('calendars.add')}
          </EditButton>
        </Group>
      </Stack>
    </form>
  );
}
