import { Alert, Badge, Checkbox, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { CopyField } from '../../components/copy-field.tsx';
import { curlLine } from '../../components/curl.ts';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';

type Domain = Shape<'IntegrationDomain'>;

const LOOK_MS = 10_000;
const COLORS: Record<Domain['status'], string> = {
  PENDING: 'yellow',
  VERIFIED: 'green',
  FAILED: 'red',
  LAPSED: 'orange',
};

const refresh = () => queries.invalidateQueries({ queryKey: ['get', '/me/integration-domains'] });

/** Lists the domains whose pages may take payments, which are verified by a DNS record or a file. */
export function DomainsPage() {
  const { t } = useTranslation('domains');
  const domains = $api.useInfiniteQuery('get', '/me/integration-domains', {}, pollEvery(LOOK_MS));
  return (
    <Stack>
      <PageHeader title={t('title')} description={t('description')} />
      <DeclareForm />
      <CursorList
        query={domains}
        empty={
          <EmptyState
            title={t('empty')}
            text={t('emptyText')}
            curl={curlLine('POST', '/me/integration-domains', { domain: 'example.com' })}
          />
        }
      >
        {(rows) => (
          <Stack>
            {rows.map((domain) => (
              <DomainCard key={domain.id} domain={domain} />
            ))}
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </Stack>
  );
}

function DeclareForm() {
  const { t } = useTranslation('domains');
  const form = useForm({
    initialValues: { domain: '', includeSubdomains: false },
    validate: { domain: (domain) => (domain.trim() === '' ? t('missing') : null) },
  });
  useUnsaved(form);
  const declare = $api.useMutation('post', '/me/integration-domains', {
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
      onSubmit={form.onSubmit(({ domain, includeSubdomains }) =>
        declare.mutate({ body: { domain: domain.trim(), includeSubdomains } }),
      )}
    >
      <Stack maw={640}>
        <TextInput
          {...form.getInputProps('domain')}
          label={t('domain')}
          description={t('domainHint')}
          placeholder={t('domainExample')}
          required
          dir="ltr"
        />
        <Checkbox
          {...form.getInputProps('includeSubdomains', { type: 'checkbox' })}
          label={t('subdomains')}
          description={t('subdomainsHint')}
        />
        <Group>
          <EditButton type="submit" loading={declare.isPending}>
            {t('declare')}
          </EditButton>
        </Group>
      </Stack>
    </form>
  );
}

function DomainCard({ domain }: { domain: Domain }) {
  const { t } = useTranslation('domains');
  const params = { path: { id: domain.id } };
  const verify = $api.useMutation('post', '/me/integration-domains/{id}/verify', {
    onSuccess: ({ data }) => {
      if (data.status === 'VERIFIED') showSuccess(t('nowVerified', { domain: data.domain }));
      return refresh();
    },
  });
  const remove = $api.useMutation('delete', '/me/integration-domains/{id}', { onSuccess: refresh });
  const isProven = domain.status === 'VERIFIED';
  return (
    <Paper withBorder p="md" component="article" aria-label={domain.domain}>
      <Stack>
        <Group justify="space-between">
          <Group gap="xs" miw={0}>
            <Title order={2} size="h5" className="breaks">
              <bdi>{domain.domain}</bdi>
            </Title>
            <Badge color={COLORS[domain.status]} variant="light">
              {t(`status.${domain.status}`)}
            </Badge>
          </Group>
          <Group gap="xs">
            <EditButton
              variant="default"
              loading={verify.isPending}
              onClick={() => verify.mutate({ params })}
            >
              {t('check')}
            </EditButton>
            <ConfirmAction
              label={t('remove')}
              title={t('removeTitle', { domain: domain.domain })}
              text={t('removeText')}
              onConfirm={() => remove.mutateAsync({ params })}
              isPending={remove.isPending}
            />
          </Group>
        </Group>
        <Text size="sm">{t(`statusText.${domain.status}`)}</Text>
        <Checked domain={domain} />
        {!isProven && <Proofs domain={domain} />}
      </Stack>
    </Paper>
  );
}

function Checked({ domain: { lastCheckedAt, lastError, expiresAt, status } }: { domain: Domain }) {
  const { t } = useTranslation('domains');
  const { dateTime } = useFormat();
  return (
    <>
      {lastCheckedAt !== null && (
        <Text size="sm" c="dimmed">
          {t('lastChecked')} <RelativeTime at={lastCheckedAt} />
          {status === 'PENDING' && expiresAt !== null && ` · ${t('until', { at: dateTime(expiresAt) })}`}
        </Text>
      )}
      {lastError !== null && <Alert color="yellow">{lastError}</Alert>}
    </>
  );
}

/** The two ways to prove it, ready to be copied; either is enough. */
function Proofs({ domain: { records, wellKnown, includeSubdomains } }: { domain: Domain }) {
  const { t } = useTranslation('domains');
  return (
    <Stack>
      {records.map((record) => (
        <Stack key={record.name} gap="xs">
          <Text fw={500}>{t('dns')}</Text>
          <CopyField label={t('recordName', { type: record.type })} value={record.name} />
          <CopyField label={t('recordValue')} value={record.value} />
        </Stack>
      ))}
      {!includeSubdomains && (
        <Stack gap="xs">
          <Text fw={500}>{t('file')}</Text>
          <CopyField label={t('fileAddress')} value={wellKnown.url} />
          <CopyField label={t('fileBody')} value={wellKnown.body} />
        </Stack>
      )}
    </Stack>
  );
}
