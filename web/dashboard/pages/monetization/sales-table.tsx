import { Badge, Group, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { useFormat } from '../../components/format.ts';
import { TextLink } from '../../components/links.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { RowsTable } from '../../components/rows-table.tsx';
import { RefundButton } from './refund-button.tsx';

type Purchase = Shape<'Purchase'>;

const COLORS: Record<Purchase['status'], string> = {
  PENDING: 'yellow',
  PAID: 'green',
  FAILED: 'gray',
  PARTIALLY_REFUNDED: 'orange',
  REFUNDED: 'gray',
  DISPUTED: 'red',
};

/** Lists sales, with a refund action. */
export function SalesTable({ sales }: { sales: readonly Purchase[] }) {
  const { t } = useTranslation('monetization');
  const names = ['at', 'what', 'buyer', 'amount', 'net', 'status', 'acts'] as const;
  return (
    <RowsTable label={t('pages.sales')} columns={names.map((name) => t(`column.${name}`))}>
      {sales.map((sale) => (
        <SaleRow key={sale.id} sale={sale} />
      ))}
    </RowsTable>
  );
}

function SaleRow({ sale }: { sale: Purchase }) {
  const { t } = useTranslation('monetization');
  const { money } = useFormat();
  const { amountCents, discountCents, discountCode, refundedCents, netCents, feeCents, currency } = sale;
  return (
    <Table.Tr>
      <Table.Td>
        <RelativeTime at={sale.createdAt} />
      </Table.Td>
      <Table.Td>
        <SoldThing sale={sale} />
      </Table.Td>
      <Table.Td className="breaks">
        <bdi>{sale.buyerEmail}</bdi>
      </Table.Td>
      <Table.Td>
        {money(amountCents, currency)}
        {discountCode !== null && (
          <Text size="sm" c="dimmed">
            {t('sale.discount', { amount: money(discountCents, currency), code: discountCode })}
          </Text>
        )}
        {refundedCents > 0 && (
          <Text size="sm" c="dimmed">
            {t('sale.refunded', { amount: money(refundedCents, currency) })}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {money(netCents, currency)}
        {feeCents > 0 && (
          <Text size="sm" c="dimmed">
            {t('sale.fee', { amount: money(feeCents, currency) })}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Badge color={COLORS[sale.status]} variant="light" className="whole">
          {t(`saleStatus.${sale.status}`)}
        </Badge>
      </Table.Td>
      <Table.Td>
        <Group gap="xs">
          <RefundButton purchase={sale} />
          <TextLink to="/monetization/payments" search={{ purchaseId: sale.id }} size="sm">
            {t('sale.payments')}
          </TextLink>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

/** Names the sold item, and links to it if it has a page. */
function SoldThing({ sale: { kind, videoId, subscriptionId } }: { sale: Purchase }) {
  const { t } = useTranslation('monetization');
  const word = t(`saleKind.${kind}`);
  if (videoId !== null) {
    return (
      <TextLink to="/videos/$id" params={{ id: videoId }} size="sm">
        {word}
      </TextLink>
    );
  }
  if (subscriptionId === null) return word;
  return (
    <TextLink to="/monetization/members" search={{ id: subscriptionId }} size="sm">
      {word}
    </TextLink>
  );
}
