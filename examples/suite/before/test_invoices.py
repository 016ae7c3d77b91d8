from playwright.sync_api import expect


def post_invoice(page, order):
    page.goto("/invoices/new")
    page.get_by_label("Customer").fill("Contoso Ltd")
    page.get_by_label("Amount").fill("380.00")
    page.get_by_label("Reference").fill(order)
    page.get_by_role("button", name="Post").click()
    expect(page.get_by_role("status")).to_contain_text(f"posted for {order}")


def test_a_posted_invoice_can_be_opened(page, order):
    post_invoice(page, order)
    page.goto("/invoices")
    page.get_by_role("row").filter(has_text=order).first.get_by_role("link").click()
    expect(page.get_by_text("380.00")).to_be_visible()


def test_a_posted_invoice_is_listed_once(page, order):
    post_invoice(page, order)
    page.goto("/invoices")
    expect(page.get_by_role("row").filter(has_text=order)).to_have_count(1)
