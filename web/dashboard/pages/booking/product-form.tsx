import { NativeSelect, NumberInput, SimpleGrid, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { FormActions } from '../../components/form-actions.tsx';
import { MoneyInput } from '../../components/money-input.tsx';
import { Panel } from '../../components/panel.tsx';
import { type ProductFields, useProductForm } from './product-fields.ts';
import { bodyOf, TYPES, type Values } from './product-values.ts';
import { Questions } from './questions.tsx';

type Product = Shape<'BookingProduct'>;

const MAX_BUFFER_MIN = 525_600;
const MAX_CAPACITY = 1_000_000;
const MAX_DAYS = 36_500;

interface Props {
  /** Null: a new one. */
  product: Product | null;
  onCancel?: () => void;
  onSaved: (product: Product) => void;
}

/** Creates or edits a product. */
export function ProductForm({ product, onCancel, onSaved }: Props) {
  const { t } = useTranslation('booking');
  const form = useProductForm(product);
  useUnsaved(form);
  const options = {
    meta: { errors: 'form' } as const,
    onError: formErrors(form, { priceCents: 'price' }),
    onSuccess: async ({ data }: { data: Product }) => {
      form.resetDirty();
      showSuccess(t('product.saved'));
      void queries.invalidateQueries({ queryKey: ['get', '/booking/products'] });
      await queries.invalidateQueries({ queryKey: ['get', '/booking/products/{id}'] });
      onSaved(data);
    },
  };
  const create = $api.useMutation('post', '/booking/products', options);
  const update = $api.useMutation('patch', '/booking/products/{id}', options);
  const submit = (values: Values) => {
    const body = bodyOf(values);
    if (product === null) return create.mutate({ body });
    update.mutate({ params: { path: { id: product.id } }, body });
  };
  return (
    <Panel title={product === null ? t('product.new') : t('product.settings')}>
      <form noValidate onSubmit={form.onSubmit(submit)}>
        <Stack>
          <AboutFields form={form} isBooked={(product?.bookingCount ?? 0) > 0} isNew={product === null} />
          <TimeFields form={form} />
          <AfterFields form={form} />
          <Questions form={form} />
          <PageFields form={form} />
          <FormActions
            submit={product === null ? t('product.create') : t('product.save')}
            isPending={create.isPending || update.isPending}
            {...(onCancel === undefined ? {} : { onCancel })}
          />
        </Stack>
      </form>
    </Panel>
  );
}

function AboutFields({ form, isBooked, isNew }: { form: ProductFields; isBooked: boolean; isNew: boolean }) {
  const { t } = useTranslation('booking');
  return (
    <>
      <TextInput
        {...form.getInputProps('title')}
        label={t('product.title')}
        maxLength={200}
        dir="auto"
        required
        autoFocus={isNew}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <NativeSelect
          {...form.getInputProps('type')}
          size="md"
          label={t('product.type')}
          description={isBooked ? t('product.typeFixed') : t(`typeMeans.${form.getValues().type}`)}
          disabled={isBooked}
          data={TYPES.map((value) => ({ value, label: t(`type.${value}`) }))}
        />
        <MoneyInput
          {...form.getInputProps('price')}
          label={t('product.price')}
          description={t('product.priceHint')}
          required
        />
      </SimpleGrid>
      <Textarea
        {...form.getInputProps('description')}
        label={t('product.description')}
        maxLength={2000}
        minRows={3}
        autosize
        dir="auto"
      />
    </>
  );
}

const WHOLE = {
  size: 'md',
  allowDecimal: false,
  allowNegative: false,
  hideControls: true,
  required: true,
} as const;

function TimeFields({ form }: { form: ProductFields }) {
  const { t } = useTranslation('booking');
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <NumberInput
        {...form.getInputProps('durationMin')}
        {...WHOLE}
        label={t('product.duration')}
        description={t('product.durationHint')}
        min={1}
        max={600}
      />
      <NumberInput
        {...form.getInputProps('bufferMin')}
        {...WHOLE}
        label={t('product.buffer')}
        description={t('product.bufferHint')}
        min={0}
        max={MAX_BUFFER_MIN}
      />
      {form.getValues().type !== 'ONE_TO_ONE' && (
        <NumberInput
          {...form.getInputProps('capacity')}
          {...WHOLE}
          label={t('product.capacity')}
          description={t('product.capacityHint')}
          min={1}
          max={MAX_CAPACITY}
        />
      )}
    </SimpleGrid>
  );
}

function AfterFields({ form }: { form: ProductFields }) {
  const { t } = useTranslation('booking');
  return (
    <>
      <Switch
        {...form.getInputProps('recordable', { type: 'checkbox' })}
        label={t('product.recordable')}
        description={t('product.recordableHint')}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <NumberInput
          {...form.getInputProps('replayAccessDays')}
          {...WHOLE}
          label={t('product.replay')}
          description={t('product.replayHint')}
          min={0}
          max={MAX_DAYS}
        />
        <NumberInput
          {...form.getInputProps('refundPolicyDays')}
          {...WHOLE}
          label={t('product.refund')}
          description={t('product.refundHint')}
          min={0}
          max={MAX_DAYS}
        />
      </SimpleGrid>
    </>
  );
}

function PageFields({ form }: { form: ProductFields }) {
  const { t } = useTranslation('booking');
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput
        {...form.getInputProps('slug')}
        label={t('product.slug')}
        description={t('product.slugHint')}
        maxLength={100}
        dir="ltr"
        spellCheck={false}
        autoComplete="off"
      />
      <TextInput
        {...form.getInputProps('thumbnailUrl')}
        type="url"
        label={t('product.picture')}
        description={t('product.pictureHint')}
        maxLength={2048}
        dir="ltr"
      />
    </SimpleGrid>
  );
}
