-- Upgrades a database with the last migration 0251_rename_columns.sql to the schema of 0001 to 0010.

-- Nothing reads these columns.
alter table subscription drop column requires_charge_consent, drop column upgrade_purchase_id;
