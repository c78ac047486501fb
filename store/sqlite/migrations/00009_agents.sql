-- +goose Up

-- The agent at the root that the command line publishes has a name now, as all
-- that are registered have.
UPDATE OR IGNORE owners SET agent = 'default' WHERE agent = '';
UPDATE OR IGNORE cards SET agent = 'default' WHERE agent = '';
