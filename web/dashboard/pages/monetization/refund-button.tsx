import { Alert, Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import { createIdempotencyKeys } from '../../app/idempotency-key.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useFormat } from '../../components/format.ts';
import { centsOf, dollarsOf, MoneyInput, type MoneyInputValue } from '../../components/money-input.tsx';

type Purchase = Shape<'Purchase'>;

/** Refundable remainder of a purchase. */
const leftOf = ({ amountCents, refundedCents }: Purchase) => amountCents - refundedCents;

function refreshMoney(): Promise<unknown> {
  const paths = [
    '/purchases',
    '/monetization/payments',
    '/monetization/revenue',
    '/me/subscriptions',
  ] as const;
  return Promise.all(paths.map((path) => queries.invalidateQueries({ queryKey: ['get', path] })));
}

/**
 * Refunds a purchase in full or in part after confirmation. Renders nothing for a purchase that cannot be
 * refunded.
 */
export function RefundButton({ purchase }: { purchase: Purchase }) {
  const { t } = useTranslation('monetization');
  const [isOpen, dialog] = useDisclosure();
  const { status, buyerEmail } = purchase;
  const isLeft = (status === 'PAID' || status === 'PARTIALLY_REFUNDED') && leftOf(purchase) > 0;
  if (!isLeft) return null;
  return (
    <>
      <Button
        color="red"
        variant="light"
        size="sm"
        onClick={dialog.open}
        aria-label={t('refund.who', { who: buyerEmail })}
      >
        {t('refund.label')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={dialog.close}
        title={t('refund.title', { who: buyerEmail })}
        closeButtonProps={{ 'aria-label': t('form.close') }}
      >
        <RefundForm purchase={purchase} onClose={dialog.close} />
      </Modal>
    </>
  );
}

function RefundForm({ purchase, onClose }: { purchase: Purchase; onClose: () => void }) {
  const { t } = useTranslation('monetization');
  const { money } = useFormat();
  // A refund sent again unchanged has the same key, so that a lost response never refunds twice.
  const [requestIdOf] = useState(createIdempotencyKeys);
  const left = leftOf(purchase);
  const form = useForm({
    initialValues: { amount: dollarsOf(left), reason: '' },
    validate: {
      amount: (amount: MoneyInputValue) => {
        const cents = centsOf(amount) ?? 0;
        return cents < 1 || cents > left ? t('refund.amountWrong', { left: money(left, 'USD') }) : null;
      },
    },
  });
  const refund = $api.useMutation('post', '/purchases/{id}/refund', {
    meta: { errors: 'form' },
    onError: formErrors(form, { amountCents: 'amount' }),
    onSuccess: ({ data: { amountCents } }) => {
      showSuccess(t('refund.done', { amount: money(-amountCents, 'USD') }));
      onClose();
    },
    onSettled: refreshMoney,
  });
  const submit = ({ amount, reason }: { amount: MoneyInputValue; reason: string }) => {
    const what = { amountCents: centsOf(amount) ?? left, ...(reason.trim() === '' ? {} : { reason }) };
    refund.mutate({ params: { path: { id: purchase.id } }, body: { ...what, requestId: requestIdOf(what) } });
  };
  return (
    <form noValidate onSubmit={form.onSubmit(submit)}>
      <Stack>
        <Text>{t('refund.text')}</Text>
        <MoneyInput
          {...form.getInputProps('amount')}
          label={t('refund.amount')}
          description={t('refund.left', { left: money(left, 'USD') })}
          required
          data-autofocus
        />
        <Textarea
          {...form.getInputProps('reason')}
          label={t('refund.reason')}
          description={t('code.notesHint')}
          maxLength={500}
          autosize
          dir="auto"
        />
        {purchase.kind === 'SUBSCRIPTION' && <Alert color="yellow">{t('refund.ofSubscription')}</Alert>}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('form.cancel')}
          </Button>
          <Button type="submit" color="red" loading={refund.isPending}>
            {t('refund.give', { amount: money(centsOf(form.getValues().amount) ?? 0, 'USD') })}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
