import { Alert, JsonInput, NativeSelect, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { CodeLine } from '../../components/copy-field.tsx';
import { Loaded } from '../../components/loaded.tsx';

/** Shows a request as it would be sent, including its signature; nothing is sent. */
export function Simulate({ id }: { id: string }) {
  const types = $api.useQuery('get', '/me/webhooks/events', {}, { staleTime: Number.POSITIVE_INFINITY });
  return <Loaded query={types}>{({ data }) => <SimulateForm id={id} types={data} />}</Loaded>;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function SimulateForm({ id, types }: { id: string; types: readonly string[] }) {
  const { t } = useTranslation('webhooks');
  const form = useForm({
    initialValues: { event: types[0] ?? '', payload: '' },
    validate: { payload: (text) => (text.trim() === '' || isObject(text) ? null : t('simulate.noObject')) },
  });
  const simulate = $api.useMutation('post', '/me/webhooks/{id}/simulate', {
    meta: { errors: 'form' },
    onError: formErrors(form),
  });
  return (
    <Stack maw={720}>
      <Text>{t('simulate.text')}</Text>
      <form
        onSubmit={form.onSubmit(({ event, payload }) =>
          simulate.mutate({
            params: { path: { id } },
            body: { event, ...(payload.trim() === '' ? {} : { payload: JSON.parse(payload) }) },
          }),
        )}
      >
        <Stack>
          <NativeSelect
            {...form.getInputProps('event')}
            label={t('simulate.event')}
            data={[...types]}
            size="md"
          />
          <JsonInput
            {...form.getInputProps('payload')}
            label={t('simulate.payload')}
            description={t('simulate.payloadHint')}
            autosize
            minRows={3}
            dir="ltr"
            size="md"
          />
          <EditButton type="submit" loading={simulate.isPending}>
            {t('simulate.submit')}
          </EditButton>
        </Stack>
      </form>
      <div role="status">{simulate.data !== undefined && <Rendered simulation={simulate.data.data} />}</div>
    </Stack>
  );
}

function Rendered({ simulation }: { simulation: Shape<'WebhookSimulation'> }) {
  const { t } = useTranslation('webhooks');
  const { method, url, headers, bodyString } = simulation.renderedRequest;
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const curl = [
    `curl -X ${method} ${quoted(url)}`,
    ...head.map((line) => `-H ${quoted(line)}`),
    `--data-raw ${quoted(bodyString)}`,
  ].join(' \\\n  ');
  return (
    <Stack>
      <Alert color={simulation.wouldDeliver ? 'green' : 'yellow'}>
        {simulation.wouldDeliver ? t('simulate.would') : t('simulate.wouldNot')}
      </Alert>
      <CodeLine
        label={t('simulate.request')}
        code={`${method} ${url}\n${head.join('\n')}\n\n${bodyString}`}
      />
      <CodeLine label={t('simulate.curl')} code={curl} />
    </Stack>
  );
}
