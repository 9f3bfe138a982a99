//! JSON Schema of the configuration files, for editors that complete and check TOML.

use serde_json::{Map, Value as Json, json};

use crate::{DURATION_PATTERN, KeyDefinition, Registry, Scope, Type, USER_SECTION};

/// Returns the schema of one scope's file, or one with every key.
pub fn json_schema(registry: &Registry, scope: Option<Scope>) -> Json {
    let mut properties = Map::new();
    for definition in
        registry.keys().filter(|definition| scope.is_none_or(|scope| definition.scopes.contains(&scope)))
    {
        insert(&mut properties, definition.key.names(), property(definition));
    }
    let user_keys = json!({ "type": "object", "description": "your own keys: any name, any value" });
    properties.insert(USER_SECTION.to_owned(), user_keys);
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "agents configuration",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Inserts a property below the tables of its key.
fn insert(properties: &mut Map<String, Json>, names: &[String], property: Json) {
    let (name, inner) = names.split_first().expect("a key has a name");
    if inner.is_empty() {
        properties.insert(name.clone(), property);
        return;
    }
    let table = properties
        .entry(name.clone())
        .or_insert_with(|| json!({ "type": "object", "additionalProperties": false, "properties": {} }));
    let inside = table["properties"].as_object_mut().expect("tables are made above, with properties");
    insert(inside, inner, property);
}

fn property(definition: &KeyDefinition) -> Json {
    let mut property = rule(&definition.value_type);
    let fields = property.as_object_mut().expect("every rule is an object");
    let scopes: Vec<_> = definition.scopes.iter().map(|scope| scope.name()).collect();
    let description =
        format!("{} (scopes: {}; variable: {})", definition.help, scopes.join(", "), definition.variable());
    fields.insert("description".to_owned(), description.into());
    if let Some(default) = &definition.default {
        fields.insert("default".to_owned(), serde_json::to_value(default).expect("a value is JSON"));
    }
    property
}

/// Returns the schema of a type. Any value may be a string that refers to a variable.
fn rule(value_type: &Type) -> Json {
    let or_variable = |rule: Json| json!({ "anyOf": [rule, { "type": "string", "pattern": "\\$\\{.*\\}" }] });
    match value_type {
        Type::String | Type::Path => json!({ "type": "string" }),
        Type::Bool => or_variable(json!({ "type": "boolean" })),
        Type::Integer { min, max } => {
            or_variable(json!({ "type": "integer", "minimum": min, "maximum": max }))
        }
        Type::Float { min, max } => or_variable(json!({ "type": "number", "minimum": min, "maximum": max })),
        Type::Duration { .. } => or_variable(json!({ "type": "string", "pattern": DURATION_PATTERN })),
        Type::Size { max } => json!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": max },
            { "type": "string", "pattern": "^[0-9]+ *([kKMGT]i?)?B?$" },
            { "type": "string", "pattern": "\\$\\{.*\\}" },
        ] }),
        Type::Choice(words) => or_variable(json!({ "type": "string", "enum": words })),
        Type::List(element) => json!({ "type": "array", "items": rule(element) }),
        Type::Table => json!({ "type": "object" }),
        Type::Any => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Declaration, Secrecy};

    #[test]
    fn every_key_is_in_the_schema() {
        let registry = Registry::standard();
        let schema = json_schema(&registry, None);
        for definition in registry.keys() {
            let [section, name] = definition.key.names() else { panic!("{}", definition.key) };
            let property = &schema["properties"][section]["properties"][name];
            let description = property["description"].as_str().unwrap();
            assert!(description.starts_with(definition.help), "{description}");
        }
        let format = &schema["properties"]["core"]["properties"]["format"];
        assert_eq!(format["default"], "auto");
        assert_eq!(format["anyOf"][0]["enum"][1], "rich");
        assert_eq!(schema["properties"]["sandbox"]["properties"]["allow-write"]["default"], json!([]));
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn the_schema_of_a_scope_has_only_its_keys() {
        let schema = json_schema(&Registry::standard(), Some(Scope::Project));
        assert!(schema["properties"]["server"].is_null());
        assert!(schema["properties"]["sandbox"]["properties"]["confine"].is_null());
        assert!(schema["properties"]["x"].is_object());
    }

    #[test]
    fn every_type_has_a_schema() {
        let declaration = |key, value_type, default| Declaration {
            key,
            value_type,
            default: Some(default),
            scopes: Scope::ALL,
            secrecy: Secrecy::Open,
            help: "a key",
        };
        let registry = Registry::new([
            declaration("a.bool", Type::Bool, "true"),
            declaration("a.float", Type::Float { min: 0.0, max: 1.0 }, "0.5"),
            declaration("a.size", Type::Size { max: 9 }, "1B"),
            declaration("a.table", Type::Table, "{ a = 1 }"),
            declaration("a.any", Type::Any, "1"),
        ]);
        let schema = json_schema(&registry.unwrap(), None);
        let inside = &schema["properties"]["a"]["properties"];
        assert_eq!(inside["bool"]["default"], true);
        assert_eq!(inside["bool"]["anyOf"][0]["type"], "boolean");
        assert_eq!(inside["float"]["default"], 0.5);
        assert_eq!(inside["size"]["default"], "1B");
        assert_eq!(inside["table"]["default"], json!({ "a": 1 }));
        assert_eq!(inside["any"]["default"], 1);
    }
}
