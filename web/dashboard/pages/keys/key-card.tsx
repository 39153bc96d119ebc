import { Badge, Button, Group, Modal, NativeSelect, Paper, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { serverNow } from '../../app/server-clock.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { useFormat } from '../../components/format.ts';
import { IdLine } from '../../components/id-line.tsx';
import { OneTimeSecret } from '../../components/one-time-secret.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';

type ApiKey = Shape<'ApiKey'>;
type State = 'good' | 'expiring' | 'expired' | 'revoked';

const SOON_MS = 7 * 86_400_000;
const COLORS: Record<State, string> = { good: 'green', expiring: 'yellow', expired: 'gray', revoked: 'gray' };

function stateOf({ revokedAt, expiresAt }: ApiKey): State {
  if (revokedAt !== null) return 'revoked';
  const left = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - serverNow();
  if (left <= 0) return 'expired';
  return left < SOON_MS ? 'expiring' : 'good';
}

const refresh = () => queries.invalidateQueries({ queryKey: ['get', '/me/api-keys'] });

/** Shows an API key without its secret: permissions, last use and actions. */
export function KeyCard({ apiKey }: { apiKey: ApiKey }) {
  const { t } = useTranslation('keys');
  const state = stateOf(apiKey);
  const revoke = $api.useMutation('delete', '/me/api-keys/{id}', { onSuccess: refresh });
  const isUsable = state === 'good' || state === 'expiring';
  return (
    <Paper withBorder p="md" component="article" aria-label={apiKey.name}>
      <Group justify="space-between" align="flex-start">
        <Stack gap={4} miw={0} flex="1 1 18rem">
          <Group gap="xs">
            <Title order={2} size="h5" className="breaks">
              <bdi>{apiKey.name}</bdi>
            </Title>
            <Badge color={COLORS[state]} variant="light">
              {t(`state.${state}`)}
            </Badge>
          </Group>
          <Text ff="monospace" size="sm" dir="ltr">
            {apiKey.prefix}…{apiKey.last4}
          </Text>
          <IdLine id={apiKey.id} label={t('list.copyId')} />
          <Details apiKey={apiKey} />
        </Stack>
        {isUsable && (
          <Group gap="xs">
            <RotateKey apiKey={apiKey} />
            <ConfirmAction
              label={t('revoke.label')}
              title={t('revoke.title', { name: apiKey.name })}
              text={t('revoke.text')}
              onConfirm={() => revoke.mutateAsync({ params: { path: { id: apiKey.id } } })}
              isPending={revoke.isPending}
            />
          </Group>
        )}
      </Group>
    </Paper>
  );
}

function Details({ apiKey }: { apiKey: ApiKey }) {
  const { t } = useTranslation('keys');
  const { dateTime, number } = useFormat();
  const { permissions, ipAllowlist, domainAllowlist, dailyQuota, expiresAt, revokedAt, lastUsedAt } = apiKey;
  const may = permissions.length === 0 ? t('list.everything') : permissions.join(', ');
  return (
    <>
      <Text size="sm">
        {t(`scope.${apiKey.scope}`)}
        {apiKey.scope !== 'FULL_ACCESS' && `: ${may}`}
      </Text>
      <Text size="sm">
        {lastUsedAt === null ? t('list.neverUsed') : t('list.lastUsed')}{' '}
        {lastUsedAt !== null && <RelativeTime at={lastUsedAt} />}
        {apiKey.lastUsedIp !== null && ` (${apiKey.lastUsedIp})`}
      </Text>
      <Text size="sm">
        {t('list.rate', { rate: number(apiKey.rateLimitPerMinute) })}
        {dailyQuota !== null && ` · ${t('list.quota', { quota: number(dailyQuota) })}`}
      </Text>
      {ipAllowlist.length > 0 && (
        <Text size="sm">{t('list.addresses', { addresses: ipAllowlist.join(', ') })}</Text>
      )}
      {domainAllowlist.length > 0 && (
        <Text size="sm">{t('list.domains', { domains: domainAllowlist.join(', ') })}</Text>
      )}
      {revokedAt !== null && <Text size="sm">{t('list.revoked', { at: dateTime(revokedAt) })}</Text>}
      {revokedAt === null && expiresAt !== null && (
        <Text size="sm">{t('list.expires', { at: dateTime(expiresAt) })}</Text>
      )}
    </>
  );
}

const OVERLAPS = ['0', '3600', '86400'] as const;

/** Rotates the secret of a key: asks how long the old one stays valid, then shows the new one once. */
function RotateKey({ apiKey }: { apiKey: ApiKey }) {
  const { t } = useTranslation('keys');
  const [isOpen, dialog] = useDisclosure();
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>('3600');
  const rotate = $api.useMutation('post', '/me/api-keys/{id}/rotate', { onSuccess: refresh, gcTime: 0 });
  const close = () => {
    dialog.close();
    rotate.reset();
  };
  const isMade = rotate.data !== undefined;
  return (
    <>
      <Button variant="default" onClick={dialog.open}>
        {t('rotate.label')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('rotate.title', { name: apiKey.name })}
        withCloseButton={!isMade}
        closeOnEscape={!isMade}
        closeOnClickOutside={!isMade}
        closeButtonProps={{ 'aria-label': t('rotate.close') }}
      >
        {rotate.data === undefined ? (
          <Stack>
            <Text>{t('rotate.text')}</Text>
            <NativeSelect
              label={t('rotate.overlap')}
              size="md"
              value={overlap}
              data={OVERLAPS.map((value) => ({ value, label: t(`overlap.${value}`) }))}
              onChange={({ currentTarget: { value } }) =>
                setOverlap(OVERLAPS.find((choice) => choice === value) ?? '0')
              }
            />
            <EditButton
              loading={rotate.isPending}
              onClick={() =>
                rotate.mutate({ params: { path: { id: apiKey.id } }, body: { overlapSec: Number(overlap) } })
              }
            >
              {t('rotate.label')}
            </EditButton>
          </Stack>
        ) : (
          <OneTimeSecret
            label={t('made.key', { name: apiKey.name })}
            value={rotate.data.data.key}
            onStored={close}
          />
        )}
      </Modal>
    </>
  );
}
