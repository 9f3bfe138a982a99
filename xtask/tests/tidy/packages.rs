//! Published packages have the fields that a registry shows.

use serde_json::Value;

const FIELDS: [&str; 5] = ["description", "license", "readme", "keywords", "categories"];

/// Fields that published packages lack. A package with `publish = false` needs none.
pub(crate) fn incomplete(packages: &[Value]) -> Vec<String> {
    let is_published = |package: &&Value| package["publish"].is_null();
    let lacks = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    let published = packages.iter().filter(is_published);
    published
        .flat_map(|package| {
            let missing = FIELDS.iter().filter(move |field| lacks(&package[**field]));
            missing.map(move |field| format!("package {}: no {field}", package["name"]))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_field_is_found_in_a_published_package_only() {
        let package = |publish: Value| {
            json!({ "name": "a", "publish": publish, "description": "d", "license": "MIT", "readme": "R",
                "keywords": [], "categories": ["c"] })
        };
        assert_eq!(incomplete(&[package(Value::Null)]), ["package \"a\": no keywords"]);
        assert!(incomplete(&[package(json!([]))]).is_empty());
    }
}
