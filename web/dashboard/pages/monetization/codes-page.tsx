import { Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { CodeForm } from './code-form.tsx';
import { MoneyPage } from './money-page.tsx';
import type { FormSearch } from './search.ts';

type Code = Shape<'DiscountCode'>;

const COLORS: Record<Code['status'], string> = {
  ACTIVE: 'green',
  EXHAUSTED: 'orange',
  EXPIRED: 'gray',
  DISABLED: 'yellow',
};
const PAGE_ROWS = 50;

const refresh = () => queries.invalidateQueries({ queryKey: ['get', '/booking/discount-codes'] });

/** Codes that buyers may type at the checkout. */
export function CodesPage() {
  const { t } = useTranslation('monetization');
  const { new: isNew, edit } = useSearch({ from: '/workspace/monetization/codes' });
  const navigate = useNavigate({ from: '/monetization/codes' });
  const show = (search: FormSearch) => void navigate({ search, replace: true });
  const query = $api.useInfiniteQuery(
    'get',
    '/booking/discount-codes',
    { params: { query: { limit: PAGE_ROWS } } },
    byCursor,
  );
  const newButton = <Button onClick={() => show({ new: true })}>{t('code.new')}</Button>;
  return (
    <MoneyPage name="codes" actions={isNew !== true && newButton}>
      {isNew === true && <CodeForm code={null} onClose={() => show({})} />}
      <CursorList
        query={query}
        empty={
          <EmptyState
            title={t('code.empty')}
            text={t('code.emptyText')}
            action={newButton}
            curl={curlLine('POST', '/booking/discount-codes', { code: 'EARLY', percentOff: 20, maxUses: 50 })}
          />
        }
      >
        {(codes) => (
          <Stack>
            {codes.map((code) =>
              code.id === edit ? (
                <CodeForm key={code.id} code={code} onClose={() => show({})} />
              ) : (
                <CodeCard key={code.id} code={code} onEdit={() => show({ edit: code.id })} />
              ),
            )}
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </MoneyPage>
  );
}

function CodeCard({ code, onEdit }: { code: Code; onEdit: () => void }) {
  const { t } = useTranslation('monetization');
  return (
    <Paper withBorder p="md" component="article" aria-label={code.code}>
      <Stack gap="xs">
        <Group justify="space-between" align="flex-start">
          <Group gap="xs" miw={0}>
            <Title order={2} size="h5" className="breaks">
              <bdi>{code.code}</bdi>
            </Title>
            <CopyButton value={code.code} label={t('code.copy')} />
            <Badge color={COLORS[code.status]} variant="light" className="whole">
              {t(`codeStatus.${code.status}`)}
            </Badge>
          </Group>
          <CodeActs code={code} onEdit={onEdit} />
        </Group>
        <CodeFacts code={code} />
        {code.notes !== null && (
          <Text size="sm" c="dimmed" className="breaks" dir="auto">
            {code.notes}
          </Text>
        )}
      </Stack>
    </Paper>
  );
}

function CodeFacts({
  code: { productId, percentOff, amountCentsOff, usedCount, maxUses, expiresAt },
}: {
  code: Code;
}) {
  const { t } = useTranslation('monetization');
  const { money, number, percent, dateTime } = useFormat();
  const off = percentOff === null ? money(amountCentsOff ?? 0, 'USD') : percent(percentOff / 100);
  return (
    <Text size="sm">
      {t('code.off', { off })}
      {productId !== null && ` · ${t('code.oneProduct')}`}
      {' · '}
      {maxUses === null
        ? t('code.used', { count: usedCount, shown: number(usedCount) })
        : t('code.usedOf', { used: number(usedCount), max: number(maxUses) })}
      {expiresAt !== null && ` · ${t('code.until', { at: dateTime(expiresAt) })}`}
    </Text>
  );
}

function CodeActs({ code: { id, code, isActive }, onEdit }: { code: Code; onEdit: () => void }) {
  const { t } = useTranslation('monetization');
  const params = { path: { id } };
  const update = $api.useMutation('patch', '/booking/discount-codes/{id}', { onSuccess: refresh });
  const remove = $api.useMutation('delete', '/booking/discount-codes/{id}', { onSuccess: refresh });
  return (
    <Group gap="xs">
      <Button variant="default" onClick={onEdit} aria-label={t('code.edit', { code })}>
        {t('form.edit')}
      </Button>
      <Button
        variant="default"
        loading={update.isPending}
        onClick={() => update.mutate({ params, body: { isActive: !isActive } })}
      >
        {isActive ? t('code.disable') : t('code.enable')}
      </Button>
      <ConfirmAction
        label={t('code.delete')}
        title={t('code.deleteTitle', { code })}
        text={t('code.deleteText')}
        isPending={remove.isPending}
        onConfirm={() => remove.mutateAsync({ params })}
      />
    </Group>
  );
}
